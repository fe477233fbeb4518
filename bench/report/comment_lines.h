// Writes sentences among figures, which programs that read the figures skip.
#pragma once

#include <cstddef>
#include <string>

namespace tmm::bench {

// The text in lines of so many columns, each behind "# "; with 0 columns it is one line, however long.
std::string comment(const std::string& text, std::size_t columns);

}  // namespace tmm::bench
