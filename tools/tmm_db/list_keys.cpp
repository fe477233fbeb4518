#include "tools/tmm_db/list_keys.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/text/nearest_name.h"
#include "base/text/printable.h"
#include "generator/machine/device_info.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// A key has numbers or texts.
struct Key {
    std::string name;
    std::function<double(const ListedWinner&)> number = {};
    std::function<std::string(const ListedWinner&)> text = {};
};

double known(double value, bool is_known) {
    return is_known ? value : kUnknown;
}

std::vector<Key> keys_of_results() {
    return {
        {.name = "shape", .text = [](const ListedWinner& w) { return to_text(w.row.problem); }},
        {.name = "device", .text = [](const ListedWinner& w) { return w.row.device; }},
        {.name = "us", .number = [](const ListedWinner& w) { return known(w.row.median_us, w.row.median_us > 0); }},
        {.name = "tflops",
         .number =
             [](const ListedWinner& w) {
                 const bool is_known = w.row.median_us > 0 && w.row.device != kEmulatedName;
                 return known(is_known ? flops(w.row.problem) / w.row.median_us * 1e-6 : 0, is_known);
             }},
        {.name = "error", .number = [](const ListedWinner& w) { return known(w.row.error_ratio, w.row.error_ratio >= 0); }},
        {.name = "vs_default",
         .number =
             [](const ListedWinner& w) {
                 const bool is_known = w.row.median_us > 0 && w.row.default_us > 0;
                 return known(is_known ? w.row.default_us / w.row.median_us : 0, is_known);
             }},
        {.name = "origin", .text = [](const ListedWinner& w) { return w.row.predicted ? "predicted" : w.row.origin; }},
        {.name = "served_by", .text = [](const ListedWinner& w) { return w.served_by; }},
        {.name = "config", .text = [](const ListedWinner& w) { return to_text(w.row.config); }},
        {.name = "ops", .text = [](const ListedWinner& w) { return ops_name(w.row.problem.op_a, w.row.problem.op_b); }},
        {.name = "epilogue", .text = [](const ListedWinner& w) { return epilogue_text(w.row.problem); }},
    };
}

Key key_of(const ProblemField& field) {
    Key key{.name = field.key && field.place != 0 ? field.key : field.name};
    if (field.is_named())
        key.text = [&field](const ListedWinner& w) { return std::string(field.values.names[field.get(w.row.problem)]); };
    else
        key.number = [&field](const ListedWinner& w) { return static_cast<double>(field.get(w.row.problem)); };
    return key;
}

Key key_of(const Parameter& parameter) {
    Key key{.name = parameter.name};
    if (parameter.value_names)
        key.text = [&parameter](const ListedWinner& w) { return std::string(parameter.value_names[w.row.config.*parameter.member]); };
    else
        key.number = [&parameter](const ListedWinner& w) { return static_cast<double>(w.row.config.*parameter.member); };
    return key;
}

const std::vector<Key>& keys() {
    static const auto& all = *[] {
        auto* made = new std::vector<Key>(keys_of_results());
        const auto add = [&](Key key) {
            if (std::ranges::none_of(*made, [&](const Key& other) { return other.name == key.name; })) made->push_back(std::move(key));
        };
        for (const ProblemField& field : kProblemFields) add(key_of(field));
        for (const Parameter& parameter : kParameters) add(key_of(parameter));
        return made;
    }();
    return all;
}

std::string lower(std::string_view text) {
    std::string result;
    for (const char c : text) result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

const Key& find_key(const std::string& name, const std::string& where) {
    const auto found =
        std::ranges::find_if(keys(), [&](const Key& key) { return key.name == lower(name) || (key.name == "us" && name == "µs"); });
    if (found != keys().end()) return *found;
    const std::vector<std::string> names = list_keys();
    const auto near = nearest_name(name, std::vector<std::string_view>(names.begin(), names.end()));
    throw Error(ExitStatus::usage, fmt::format("there is no key {}", in_quotes(name)), printable(where),
                near ? fmt::format("did you mean {}?", *near) : fmt::format("the keys are {}", fmt::join(names, ", ")));
}

class Condition {
public:
    explicit Condition(const std::string& text) : text_(text) {
        const std::size_t begin = text.find_first_of("=!<>");
        std::size_t end = begin;
        while (end < text.size() && std::string_view("=!<>").find(text[end]) != std::string_view::npos) ++end;
        if (begin == std::string::npos || begin == 0 || end == text.size() || !is_comparison(text.substr(begin, end - begin)))
            fail(fmt::format("{} is no condition", in_quotes(text)),
                 "write a key, one of = != < <= > >=, and a value, such as 'm<=16' or dtype=bf16");
        comparison_ = text.substr(begin, end - begin);
        key_ = &find_key(text.substr(0, begin), place());
        value_ = text.substr(end);
        if (key_->number) {
            const auto [stop, error] = std::from_chars(value_.data(), value_.data() + value_.size(), number_);
            if (error != std::errc() || stop != value_.data() + value_.size())
                fail(fmt::format("{} = {} is not a number", key_->name, in_quotes(value_)), "write it like 16 or 0.5");
        } else if (comparison_ != "=" && comparison_ != "!=") {
            fail(fmt::format("{} has no order", key_->name), "compare it by = or !=");
        }
    }

    bool holds(const ListedWinner& winner) const {
        if (!key_->number) return (lower(key_->text(winner)) == lower(value_)) == (comparison_ == "=");
        const double number = key_->number(winner);
        // What is not known meets no condition, as the comparisons of NaN have it.
        if (comparison_ == "=") return number == number_;
        if (comparison_ == "!=") return number < number_ || number > number_;
        if (comparison_ == "<") return number < number_;
        if (comparison_ == "<=") return number <= number_;
        return comparison_ == ">" ? number > number_ : number >= number_;
    }

    [[noreturn]] void fail_empty(const std::vector<ListedWinner>& winners) const {
        throw Error(ExitStatus::no_winner, "no winner meets it", place(), key_->number ? known_numbers(winners) : known_texts(winners));
    }

private:
    static bool is_comparison(const std::string& text) {
        static constexpr std::string_view kAll[] = {"=", "!=", "<", "<=", ">", ">="};
        return std::ranges::find(kAll, text) != std::end(kAll);
    }
    std::string place() const { return printable("--where " + text_); }
    std::string known_numbers(const std::vector<ListedWinner>& winners) const {
        std::set<double> values;
        for (const ListedWinner& winner : winners)
            if (const double value = key_->number(winner); !std::isnan(value)) values.insert(value);
        if (values.empty()) return fmt::format("{} is not known of any", key_->name);
        if (values.size() > kMostShown) return fmt::format("{} is from {} to {}", key_->name, *values.begin(), *values.rbegin());
        return fmt::format("the values of {} are {}", key_->name, fmt::join(values, ", "));
    }
    std::string known_texts(const std::vector<ListedWinner>& winners) const {
        std::set<std::string> values;
        for (const ListedWinner& winner : winners) {
            const std::string value = key_->text(winner);
            values.insert(value.empty() ? "-" : printable(value));
        }
        const std::string more = values.size() > kMostShown ? ", …" : "";
        while (values.size() > kMostShown) values.erase(std::prev(values.end()));
        return fmt::format("the values of {} are {}{}", key_->name, fmt::join(values, ", "), more);
    }
    [[noreturn]] void fail(const std::string& what, const std::string& remedy) const {
        throw Error(ExitStatus::usage, what, place(), remedy);
    }

    static constexpr std::size_t kMostShown = 12;

    std::string text_;
    const Key* key_ = nullptr;
    std::string comparison_;
    std::string value_;
    double number_ = 0;
};

}  // namespace

std::vector<ListedWinner> with_conditions(std::vector<ListedWinner> winners, const std::vector<std::string>& conditions) {
    for (const std::string& text : conditions) {
        const Condition condition(text);
        std::vector<ListedWinner> left;
        std::ranges::copy_if(winners, std::back_inserter(left), [&](const ListedWinner& winner) { return condition.holds(winner); });
        if (left.empty() && !winners.empty()) condition.fail_empty(winners);
        winners = std::move(left);
    }
    return winners;
}

void sort_by(std::vector<ListedWinner>& winners, const std::string& text) {
    const bool descends = text.starts_with('-');
    const Key& key = find_key(text.substr(descends ? 1 : 0), "--sort " + text);
    std::ranges::stable_sort(winners, [&](const ListedWinner& x, const ListedWinner& y) {
        if (!key.number) return descends ? key.text(y) < key.text(x) : key.text(x) < key.text(y);
        const double a = key.number(x), b = key.number(y);
        if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
        return descends ? b < a : a < b;
    });
}

std::vector<std::string> list_keys() {
    std::vector<std::string> names;
    for (const Key& key : keys()) names.push_back(key.name);
    return names;
}

}  // namespace tmm
