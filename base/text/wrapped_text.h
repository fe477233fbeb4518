// Text for people on terminals: broken into lines between words, and pairs of a term and what it means in two columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tmm {

// Each line at most `width` columns wide, unless a word alone is wider, and indented; the last ends with a newline, too.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

struct Term {
    std::string name;
    std::string meaning;
};
// Meanings stand in one column, at most a third of the width from the left; behind a longer term they begin on the next line.
std::string two_columns(const std::vector<Term>& terms, std::size_t width);

// Characters of UTF-8 text, which take a column each.
std::size_t columns(std::string_view text);

}  // namespace tmm
