// The listings of tmm-db as JSON; docs/schema/ describes each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "db/report.h"

namespace tmm {

std::string winners_json(TuningDatabase& database, const ReportOptions& options);
std::string shipped_json(const ReportOptions& options);
std::string problem_json(TuningDatabase& database, const GemmProblem& problem, const ReportOptions& options);
std::string candidates_json(TuningDatabase& database, const GemmProblem& problem, const ReportOptions& options);
std::string difference_json(TuningDatabase& a, TuningDatabase& b, const ReportOptions& options);
std::string stale_json(const std::vector<StaleWinners>& devices);
std::string verification_json(const std::filesystem::path& file, const std::vector<std::string>& faults, std::size_t measurements,
                              std::size_t decisions);

}  // namespace tmm
