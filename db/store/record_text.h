// Records as text, CSV or JSON, with the same columns in both; text that is written reads back as the same records.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "db/store/records.h"

namespace tmm {

std::string to_csv(const std::vector<TuningRecord>& records);
std::string to_json(const std::vector<TuningRecord>& records);

// Text that begins with '{' is JSON, else CSV. Throws Error (bad_input) with "name:line:column" and what is wrong there.
std::vector<TuningRecord> parse_records(std::string_view text, const std::string& name);
// Throws Error (bad_input) also where the file can't be read.
std::vector<TuningRecord> read_records(const std::filesystem::path& file);

}  // namespace tmm
