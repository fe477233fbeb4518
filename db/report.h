// What tmm-db says about a database, as text for people. Each answers from the newest measurement of a candidate and the
// decision that counts.
#pragma once

#include <string>

#include "db/tuning_database.h"

namespace tmm {

struct ReportOptions {
    // Only devices whose name holds this, whatever the case of its letters; empty: all.
    std::string device;
    bool color = false;
};

bool names_device(const ReportOptions& options, const std::string& device);

// ls: a line a winner.
std::string winners_report(TuningDatabase& database, const ReportOptions& options);
// show: the winner of one problem, why it won, what it was chosen from. Throws Error (no_winner) that names the nearest
// tuned problems where this one is not tuned.
std::string problem_report(TuningDatabase& database, const GemmProblem& problem, const ReportOptions& options);
// candidates: a line a candidate of one problem, the fastest first.
std::string candidates_report(TuningDatabase& database, const GemmProblem& problem, const ReportOptions& options);
// diff: where two databases' winners differ, and how their times compare.
std::string difference_report(TuningDatabase& a, TuningDatabase& b, const ReportOptions& options);

}  // namespace tmm
