// Splits text for the readers of lists. All results are views of the text, so that a fault can name its place.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/text/spellings.h"

namespace tmm::scan {

inline constexpr std::string_view kBlanks = " \t\r";

inline std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return text.substr(text.size());
    return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

// Calls the function with each line, without its line end.
template <typename Function>
void for_each_line(std::string_view text, const Function& function) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        function(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

// Returns the parts between the separators, without blanks around them.
inline std::vector<std::string_view> parts(std::string_view text, char separator) {
    std::vector<std::string_view> found;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        found.push_back(trimmed(text.substr(begin, end - begin)));
        begin = end + 1;
    }
    return found;
}

// Removes the quotes around a text.
inline std::string_view unquoted(std::string_view text) {
    if (text.size() >= 2 && text.front() == text.back() && (text.front() == '"' || text.front() == '\''))
        return text.substr(1, text.size() - 2);
    return text;
}

// Whether a flag's value means yes: "true", "1", or any name but "none".
inline bool says_yes(std::string_view value) {
    const std::string lower = lowered(value);
    return !lower.empty() && lower != "false" && lower != "0" && lower != "none" && lower != "no";
}

// Names and values, such as "--lda 64" or "lda: 64".
struct Pair {
    std::string_view name;
    std::string_view value;
};
using Pairs = std::vector<Pair>;

inline bool same_letters(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::ranges::equal(a, b, {}, lower, lower);
}

// Returns the value of the first name that exists, in either case, or an empty text.
inline std::string_view value_of(const Pairs& pairs, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names)
        for (const Pair& pair : pairs)
            if (same_letters(pair.name, name)) return pair.value;
    return {};
}
inline bool has(const Pairs& pairs, std::string_view name) {
    return std::ranges::any_of(pairs, [&](const Pair& pair) { return same_letters(pair.name, name); });
}

}  // namespace tmm::scan
