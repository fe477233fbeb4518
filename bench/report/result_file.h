// Writes files of results, and the fields of CSV; and sentences among figures, which programs that read the figures skip.
#pragma once

#include <cstddef>
#include <string>

namespace tmm::bench {

// The field is quoted where it must be.
std::string csv_field(const std::string& text);
// A number without a meaning (a failed shape's, an unmeasured host cost) is an empty field.
std::string csv_number(double value, bool known = true);
// A plan's config by its fields, as files have it; a text that is no config stays.
std::string config_fields(const std::string& config);

// Replaces the file whole. Throws Error (bad_input) where it can't be written.
void write_file(const std::string& file, const std::string& text);

// Writes sentences among figures, which programs that read the figures skip.

// The text in lines of so many columns, each behind "# "; with 0 columns it is one line, however long.
std::string comment(const std::string& text, std::size_t columns);

}  // namespace tmm::bench
