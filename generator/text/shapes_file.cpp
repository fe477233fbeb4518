// Reads shapes.txt. Every fault has its line and column, a reason and a way out; the first is told, the others are counted.
#include "generator/text/shapes_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/log.h"
#include "base/text/printable.h"
#include "generator/text/foreign_lists/foreign_list.h"
#include "generator/text/shape_line.h"
#include "generator/text/shape_set.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

// Most problems that all ranges may multiply out to.
constexpr std::size_t kMostProblems = 1'000'000;
// A file that is no shapes file is not read to its end.
constexpr std::size_t kMostFaults = 1000;
constexpr std::size_t kLargestFile = 256 << 20;
constexpr const char* kFileHelp =
    "write M N K, like 1000 1000 1000 or 1000x1000x1000, then key=value pairs; docs/lists.md names the lists of other programs that are "
    "read";

// The words of a line, without its comment.
void split(std::string_view line, std::vector<std::string_view>& words) {
    constexpr std::string_view kBlanks = " \t\r";
    words.clear();
    line = line.substr(0, line.find('#'));
    for (std::size_t i = 0; (i = line.find_first_not_of(kBlanks, i)) != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(kBlanks, i), line.size());
        words.push_back(line.substr(i, end - i));
        i = end;
    }
}

// A fault of --set is nobody's line.
void check_overrides(const ShapeOverrides& overrides) {
    ShapeLine line;
    for (const auto& [key, value] : overrides) {
        try {
            set_key(line, key, value);
        } catch (const ShapeFault& fault) {
            throw Error(ExitStatus::usage, fault.what, fmt::format("--set {}={}", key, value), fault.remedy);
        }
    }
}

// How many characters of the text stand before the place: none where it lies elsewhere.
std::size_t offset_in(std::string_view text, const char* place) {
    const bool is_within = !std::less<>()(place, text.data()) && !std::less<>()(text.data() + text.size(), place);
    return is_within ? static_cast<std::size_t>(place - text.data()) : 0;
}

class Parser {
public:
    // single: the text is one line of a command line, not a file.
    Parser(std::string_view text, std::string name, const ShapeOverrides& overrides, bool single, Varying varying)
        : text_(text), name_(std::move(name)), overrides_(overrides), single_(single), varying_(varying) {}

    std::vector<Shape> parse() {
        std::string_view rest = text_;
        std::vector<std::string_view> words;
        while (!rest.empty()) {
            const auto end = rest.find('\n');
            const std::string_view line = rest.substr(0, end);
            rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
            ++line_;
            try {
                add_line(line, words);
            } catch (const ShapeFault& fault) {
                note(fault, line);
            }
            if (faults_ == kMostFaults) break;
        }
        if (first_) throw fault_error();
        if (shapes_.empty()) throw Error(status(), "there is no shape in it", place(std::max(line_, 1), 0), kFileHelp);
        return shapes_.take();
    }

private:
    void add_line(std::string_view text, std::vector<std::string_view>& words) {
        if (const auto nul = text.find('\0'); nul != std::string_view::npos)
            throw ShapeFault{text.data() + nul, "there is a NUL byte: this is no text", kLineHelp};
        split(text, words);
        if (words.empty()) return;
        const ShapeLine line = parse_shape_line(words, overrides_);
        check_varying(line);
        const std::size_t counts[] = {line.m.count(), line.n.count(), line.k.count()};
        std::size_t total = 1;
        for (const std::size_t count : counts)
            if (__builtin_mul_overflow(total, count, &total)) total = std::numeric_limits<std::size_t>::max();
        if (total > 1) {
            if (total > kMostProblems - from_ranges_)
                throw ShapeFault{words.front().data(), fmt::format("the ranges multiply out to more than {} problems", kMostProblems),
                                 "use larger steps, or several files"};
            from_ranges_ += total;
        }
        for (std::size_t i = 0; i < counts[0]; ++i)
            for (std::size_t j = 0; j < counts[1]; ++j)
                for (std::size_t l = 0; l < counts[2]; ++l)
                    shapes_.add({make_problem(line, line.m.at(i), line.n.at(j), line.k.at(l)), line.alpha, line.beta, line_,
                                 varying_size(line, line.m.at(i), line.n.at(j), line.k.at(l))});
    }

    void check_varying(const ShapeLine& line) const {
        const Sizes* first = nullptr;
        for (const Sizes* sizes : {&line.m, &line.n, &line.k}) {
            if (!sizes->varies) continue;
            if (varying_ == Varying::refused)
                throw ShapeFault{sizes->place,
                                 fmt::format("{}:{}:auto is for tmm-tune, which picks the sizes itself", sizes->first, sizes->last),
                                 "write a range as first:last:step"};
            if (first) throw ShapeFault{sizes->place, "two sizes of a line can't vary", "write one of them as first:last:step"};
            first = sizes;
        }
    }

    static std::shared_ptr<const VaryingSize> varying_size(const ShapeLine& line, i64 m, i64 n, i64 k) {
        if (line.m.varies)
            return std::make_shared<VaryingSize>(
                VaryingSize{'M', line.m.first, line.m.last, [=](i64 size) { return make_problem(line, size, n, k); }});
        if (line.n.varies)
            return std::make_shared<VaryingSize>(
                VaryingSize{'N', line.n.first, line.n.last, [=](i64 size) { return make_problem(line, m, size, k); }});
        if (line.k.varies)
            return std::make_shared<VaryingSize>(
                VaryingSize{'K', line.k.first, line.k.last, [=](i64 size) { return make_problem(line, m, n, size); }});
        return nullptr;
    }

    void note(const ShapeFault& fault, std::string_view line) {
        if (++faults_ > 1) return;
        first_ = fault;
        first_place_ = place(line_, offset_in(line, fault.place));
    }

    Error fault_error() const {
        std::string remedy = first_->remedy;
        if (faults_ == kMostFaults) {
            remedy +=
                fmt::format(" ({} and more lines have faults: is this a shapes file, or a list that docs/lists.md shows?)", kMostFaults);
        } else if (faults_ > 1) {
            remedy += fmt::format(" ({} lines have faults in all)", faults_);
        }
        return Error(status(), first_->what, first_place_, remedy);
    }

    ExitStatus status() const { return single_ ? ExitStatus::usage : ExitStatus::bad_input; }
    std::string place(int line, std::size_t offset) const {
        return single_ ? fmt::format("{}, column {}", name_, offset + 1) : fmt::format("{}:{}:{}", name_, line, offset + 1);
    }

    std::string_view text_;
    std::string name_;
    const ShapeOverrides& overrides_;
    bool single_;
    Varying varying_;
    ShapeSet shapes_;
    std::size_t from_ranges_ = 0;
    int line_ = 0;
    std::size_t faults_ = 0;
    std::optional<ShapeFault> first_;
    std::string first_place_;
};

ShapeList read_foreign(const ForeignFormat& format, std::string_view text, const std::string& name, const ShapeOverrides& overrides) {
    ForeignList list(text, overrides);
    format.read(text, list);
    ShapeList result{.format = format.name, .left_out = list.left_out()};
    for (const ForeignRemark& remark : list.remarks())
        result.remarks.push_back({fmt::format("{}:{}:{}", name, remark.line, remark.column), remark.what, remark.remedy});
    result.shapes = list.shapes().take();
    if (!result.shapes.empty()) return result;
    if (result.remarks.empty())
        throw Error(ExitStatus::bad_input, fmt::format("it looks like {}, but there is no product in it", format.name), name + ":1:1",
                    "docs/lists.md shows what is read of such lists");
    const ShapeRemark& first = result.remarks.front();
    const std::string others =
        result.left_out > 1 ? fmt::format(" (none of the {} lines of {} can be served)", result.left_out, format.name) : "";
    const std::string remedy = first.remedy.empty() ? "docs/lists.md says what is read of such lists" : first.remedy;
    throw Error(ExitStatus::bad_input, first.what, first.where, remedy + others);
}

// Says which lines of another program's list give no problem.
std::vector<Shape> said(ShapeList list, const std::string& name) {
    if (!list.format) return std::move(list.shapes);
    const auto say = [](const std::string& what, const std::string& where, const std::string& remedy) {
        log_line(Error(ExitStatus::bad_input, what, where, remedy).what());
    };
    for (const ShapeRemark& remark : list.remarks) say("left out: " + remark.what, remark.where, remark.remedy);
    if (list.left_out > list.remarks.size()) say(fmt::format("{} more lines are left out", list.left_out - list.remarks.size()), name, "");
    say(fmt::format("read as {}: {} problem{}, {} line{} left out", list.format, list.shapes.size(), list.shapes.size() == 1 ? "" : "s",
                    list.left_out, list.left_out == 1 ? "" : "s"),
        name, "");
    return std::move(list.shapes);
}

constexpr const char* kStandardInput = "<stdin>";

std::string read_all(std::istream& stream, const std::string& name) {
    std::string text;
    for (std::vector<char> chunk(1 << 20); stream.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), stream.gcount() > 0;) {
        text.append(chunk.data(), static_cast<std::size_t>(stream.gcount()));
        if (text.size() > kLargestFile)
            throw Error(ExitStatus::bad_input, fmt::format("it is larger than {} MiB", kLargestFile >> 20), name,
                        "is this a shapes file? If so, split it");
    }
    if (stream.bad()) throw Error(ExitStatus::bad_input, fmt::format("can't be read: {}", std::strerror(errno)), name);
    return text;
}

}  // namespace

ShapeList parse_shape_list(std::string_view text, const std::string& name, const ShapeOverrides& overrides, Varying varying) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    check_overrides(overrides);
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
        throw Error(ExitStatus::bad_input, "it is UTF-16 text", name + ":1:1", "save it as UTF-8: iconv -f UTF-16 -t UTF-8");
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    if (const ForeignFormat* const format = foreign_format_of(text)) return read_foreign(*format, text, name, overrides);
    return {.shapes = Parser(text, name, overrides, false, varying).parse()};
}

std::vector<Shape> parse_shapes(std::string_view text, const std::string& name, const ShapeOverrides& overrides, Varying varying) {
    return said(parse_shape_list(text, name, overrides, varying), name);
}

std::vector<Shape> read_shapes(const std::filesystem::path& file, const ShapeOverrides& overrides, Varying varying) {
    if (file == "-") {
        if (isatty(STDIN_FILENO)) log_line("reading shapes from the terminal, one M N K a line; Ctrl-D ends them");
        return parse_shapes(read_all(std::cin, kStandardInput), kStandardInput, overrides, varying);
    }
    const std::string name = file.string();
    std::error_code error;
    if (std::filesystem::is_directory(file, error))
        throw Error(ExitStatus::bad_input, "it is a directory", name, "name a file with one problem a line");
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        throw Error(ExitStatus::bad_input, fmt::format("can't be opened: {}", std::strerror(errno)), name,
                    "check the path and its permissions");
    return parse_shapes(read_all(stream, name), name, overrides, varying);
}

Shape parse_shape(std::string_view text, const ShapeOverrides& overrides) {
    const std::string name = "shape " + in_quotes(text);
    if (text.find('\n') != std::string_view::npos) throw Error(ExitStatus::usage, "a shape is one line", name, kLineHelp);
    check_overrides(overrides);
    const std::vector<Shape> shapes = Parser(text, name, overrides, true, Varying::refused).parse();
    if (shapes.size() != 1)
        throw Error(ExitStatus::usage, fmt::format("a range gives {} problems where one is wanted", shapes.size()), name,
                    "name one size each");
    return shapes.front();
}

std::string to_text(const Shape& shape) {
    GemmProblem problem = shape.problem;
    problem.reads_c = false;
    std::string text = to_text(problem);
    if (shape.alpha != 1) text += fmt::format(" alpha={}", shape.alpha);
    if (shape.beta != 0) text += fmt::format(" beta={}", shape.beta);
    return text;
}

}  // namespace tmm
