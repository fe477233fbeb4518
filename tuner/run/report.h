// Prints what a run found, on stdout: the table of winners, or JSON.
#pragma once

#include <filesystem>
#include <string>

#include "base/text/terminal.h"
#include "tuner/search/run_report.h"

namespace tmm {

// The table has one row a shape and device; below it stand the problems without a winner and why, how many were not reached, and one
// sentence on the run.
std::string table_text(const RunReport& report, const Screen& screen);
std::string json_text(const RunReport& report, const std::filesystem::path& database);

// The last sentence: "nothing to measure: all 12 problems have verified winners", or what was done.
std::string summary_text(const RunReport& report);

}  // namespace tmm
