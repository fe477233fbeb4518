// What show and candidates print of one problem.
#pragma once

#include <string>
#include <vector>

#include "tools/tmm_db/problem_lookup.h"
#include "tools/tmm_db/report_text.h"

namespace tmm {

// Who won on each device, why, what it was chosen from, and what runs where that is something else.
std::string problem_report(const std::vector<ProblemOnDevice>& devices, const GemmProblem& problem, const ReportOptions& options);
std::string problem_json(const std::vector<ProblemOnDevice>& devices, const GemmProblem& problem);
// A line a candidate, the fastest first.
std::string candidates_report(const std::vector<ProblemOnDevice>& devices, const GemmProblem& problem, const ReportOptions& options);
std::string candidates_json(const std::vector<ProblemOnDevice>& devices, const GemmProblem& problem);

// The devices with candidates of the problem; throws Error (no_winner) where there is none.
std::vector<ProblemOnDevice> candidates_of(TuningDatabase& database, const ProblemQuery& query);

}  // namespace tmm
