#include "runtime/dropin/record/record_text.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace tmm::dropin {
namespace {

// The rest of the text behind its first part, which ends before the separator or with the text.
std::string_view cut(std::string_view& text, std::string_view separator) {
    const std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(part.size() + separator.size(), text.size()));
    return part;
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Takes the number that the text begins with.
template <class Number>
bool take_number(std::string_view& text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

bool take_word(std::string_view& text, std::string_view word) {
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    return true;
}

// "2 calls, 0.7 s in 1 of them, 58.3% of the time".
bool read_comment(std::string_view comment, Calls& calls) {
    if (!take_number(comment, calls.count) || !take_word(comment, " calls") || calls.count < 0) return false;
    take_word(comment, ", ");
    while (!comment.empty()) {
        std::string_view part = cut(comment, ", ");
        double seconds = 0;
        if (!take_number(part, seconds) || !take_word(part, " s") || !(seconds >= 0 && seconds < 1e9)) continue;
        calls.nanoseconds = static_cast<std::int64_t>(seconds * 1e9 + 0.5);
        calls.timed = calls.count;
        if (take_word(part, " in ")) take_number(part, calls.timed);
    }
    return true;
}

// The comment that a record begins with is made anew.
bool is_head(std::string_view comment) {
    std::int64_t shapes = 0;
    return take_number(comment, shapes) && comment.starts_with(" shapes, ");
}

// Multiply-adds of one call.
double work_of(std::string_view shape) {
    double work = 1;
    for (int i = 0; i < 3; ++i) {
        double size = 0;
        shape = trimmed(shape);
        if (!take_number(shape, size)) return 0;
        work *= size;
    }
    constexpr std::string_view kBatch = " batch=";
    double batch = 1;
    if (const auto at = shape.find(kBatch); at != std::string_view::npos) {
        shape.remove_prefix(at + kBatch.size());
        take_number(shape, batch);
    }
    return work * batch;
}

template <class... Format>
void append_number(std::pmr::string& text, Format... format) {
    char digits[64];
    const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), format...);
    text.append(digits, error == std::errc() ? end : digits);
}

double seconds_of(const Calls& calls) {
    return static_cast<double>(calls.nanoseconds) * 1e-9;
}

}  // namespace

bool looks_like_shapes(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::string_view line = trimmed(cut(text, "\n"));
        if (!line.empty() && line.front() != '#' && (line.front() < '0' || line.front() > '9')) return false;
    }
    return true;
}

bool RecordText::read(std::string_view text) {
    if (!looks_like_shapes(text)) return false;
    while (!text.empty()) {
        const std::string_view line = cut(text, "\n");
        std::string_view comment = line;
        const std::string_view shape = trimmed(cut(comment, "#"));
        comment = trimmed(comment);
        Calls calls;
        if (!shape.empty() && read_comment(comment, calls))
            add(shape, calls);
        else if (!shape.empty() || (!comment.empty() && !is_head(comment)))
            others_.emplace_back(shape, line);
    }
    return true;
}

void RecordText::add(std::string_view shape, const Calls& calls) {
    const auto found = shapes_.find(shape);
    if (found != shapes_.end())
        found->second += calls;
    else
        shapes_.emplace(shape, calls);
}

std::pmr::vector<RecordText::Line> RecordText::lines(bool& timed, double& total) const {
    std::pmr::vector<Line> all(shapes_.get_allocator());
    double seconds = 0;
    double timed_work = 0;
    for (const auto& shape : shapes_) {
        seconds += seconds_of(shape.second);
        timed_work += work_of(shape.first) * static_cast<double>(shape.second.timed);
    }
    timed = seconds > 0;
    total = 0;
    for (const auto& shape : shapes_) {
        const Calls& calls = shape.second;
        const double work = work_of(shape.first) * static_cast<double>(calls.count);
        // Calls that were not timed took as long as those of the shape that were; without such, as long for their work as all others.
        const double amount = !timed            ? work
                              : calls.timed > 0 ? seconds_of(calls) * static_cast<double>(calls.count) / static_cast<double>(calls.timed)
                              : timed_work > 0  ? work * seconds / timed_work
                                                : 0;
        all.push_back({&shape, amount});
        total += amount;
    }
    std::sort(all.begin(), all.end(),
              [](const Line& x, const Line& y) { return x.amount != y.amount ? x.amount > y.amount : x.shape->first < y.shape->first; });
    return all;
}

std::pmr::string RecordText::text() const {
    bool timed = false;
    double total = 0;
    const std::pmr::vector<Line> sorted = lines(timed, total);
    std::pmr::string text("# ", shapes_.get_allocator());
    append_number(text, sorted.size());
    text += " shapes, ";
    if (timed)
        append_number(text, total, std::chars_format::fixed, 3);
    else
        append_number(text, 2 * total, std::chars_format::general, 3);
    text += timed ? " s of products; the longest first\n" : " FLOP; those of most work first\n";
    for (const auto& [shape, amount] : sorted) {
        const Calls& calls = shape->second;
        text.append(shape->first).append("  # ");
        append_number(text, calls.count);
        text += " calls, ";
        if (calls.timed > 0) {
            append_number(text, seconds_of(calls), std::chars_format::general, 9);
            text += " s";
        }
        if (calls.timed > 0 && calls.timed < calls.count) {
            text += " in ";
            append_number(text, calls.timed);
            text += " of them";
        }
        if (calls.timed > 0) text += ", ";
        append_number(text, total > 0 ? 100 * amount / total : 0.0, std::chars_format::fixed, 1);
        text += timed ? "% of the time" : "% of the work";
        text += '\n';
    }
    for (const auto& [shape, line] : others_)
        if (shape.empty() || !shapes_.contains(shape)) text.append(line).append("\n");
    return text;
}

}  // namespace tmm::dropin
