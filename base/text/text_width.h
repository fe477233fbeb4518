// The columns that text takes on a terminal, and text broken into lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tmm {

// Columns that a terminal shows UTF-8 in: none for combining marks, two for wide East Asian characters.
std::size_t display_width(std::string_view text);

// The text in lines of at most so many columns, joined by line breaks; lines after the first begin with the indent. They break at
// spaces, else after '_', '+', ',' or '/', else anywhere. columns 0: as it is.
std::string hanging(std::string_view text, std::size_t columns, std::size_t indent);

// At most so many columns of the text, the last of them an ellipsis where something is left out.
std::string shortened(std::string_view text, std::size_t columns);

// Text for people on terminals: broken into lines between words, and pairs of a term and what it means in two columns.

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
