// Writes files of results, and the fields of CSV.
#pragma once

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

}  // namespace tmm::bench
