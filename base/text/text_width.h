// Text on a screen: how many columns it takes, and where its lines break.
#pragma once

#include <string>
#include <string_view>

namespace tmm {

// Columns that a terminal shows UTF-8 in: none for combining marks, two for wide East Asian characters.
std::size_t display_width(std::string_view text);

// The text in lines of at most so many columns, joined by line breaks; lines after the first begin with the indent. They break at
// spaces, else after '_', '+', ',' or '/', else anywhere. columns 0: as it is.
std::string hanging(std::string_view text, std::size_t columns, std::size_t indent);

// At most so many columns of the text, the last of them an ellipsis where something is left out.
std::string shortened(std::string_view text, std::size_t columns);

}  // namespace tmm
