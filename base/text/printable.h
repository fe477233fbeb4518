// Text that a user, a file or a database gave, made fit to stand in a message: nothing in it moves a terminal's cursor or breaks the line.
#pragma once

#include <string>
#include <string_view>

namespace tmm {

// Control characters, what reorders text, and bytes that are no UTF-8 become "\x1b", "\n" and the like; all else stays. Text that went
// through it once stays as it is.
std::string printable(std::string_view text);

// The same between single quotes, and cut where it is long: 'shapes.txt'.
std::string in_quotes(std::string_view text);

}  // namespace tmm
