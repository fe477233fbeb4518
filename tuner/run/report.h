// Prints what a run found, on stdout: the table of winners, or JSON. A dry run prints with pieces of it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/text/terminal.h"
#include "db/store/fields.h"
#include "generator/machine/device_info.h"
#include "tuner/search/run_report.h"

namespace tmm {

// The table has one row a shape and device; below it stand the problems without a winner and why, how many were not reached, and one
// sentence on the run.
std::string table_text(const RunReport& report, const Screen& screen);
std::string json_text(const RunReport& report, const std::filesystem::path& database);

// The last sentence: "nothing to measure: all 12 problems have verified winners", or what was done.
std::string summary_text(const RunReport& report);

std::string device_text(const DeviceInfo& device);
// "1 problem", "12 problems".
std::string count_text(std::size_t count, std::string_view what);
// The most frequent reason comes first.
Json rejections_json(const std::map<std::string, int>& rejections);
// A sentence in as many lines as it takes on the screen; those after the first are indented.
std::string prose(const std::string& text, const Screen& screen, std::size_t indent = 4);

}  // namespace tmm
