// Prints what a run found, on stdout: the table of winners, or JSON.
#pragma once

#include <string>
#include <vector>

#include "generator/search/search_space.h"
#include "generator/text/terminal.h"
#include "tuner/run_report.h"

namespace tmm {

// The table has one row a shape and device; below it stand the problems without a winner and why, and one sentence on the run.
std::string table_text(const RunReport& report, const Screen& screen);
std::string json_text(const RunReport& report, const std::filesystem::path& database);

// The last sentence: "nothing to measure: all 12 problems have verified winners", or what was done.
std::string summary_text(const RunReport& report);

// The problems and candidates that a run would look at on one device.
struct DryRun {
    DeviceInfo device;
    struct Problem {
        Shape shape;
        // Why no kernel serves it; empty where one does.
        std::string unserved;
        std::size_t candidates = 0;
        // The candidates as text, where they are asked for.
        std::vector<std::string> configs;
        std::size_t rejected = 0;
        // The rules that rejected configs, and how many configs each of them rejected.
        std::map<std::string, int> reasons;
    };
    std::vector<Problem> problems;
};
DryRun::Problem dry_run_of(const Shape& shape, const DeviceInfo& device, Effort effort, bool with_configs);
std::string table_text(const std::vector<DryRun>& dry_runs, const Screen& screen);
std::string json_text(const std::vector<DryRun>& dry_runs);

}  // namespace tmm
