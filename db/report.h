// The reports of tmm-db about a database, as text for people. Each is made from the newest measurement of a candidate and the decision that
// counts.
#pragma once

#include <string>
#include <vector>

#include "db/problem_lookup.h"
#include "db/tuning_database.h"
#include "generator/text/terminal.h"

namespace tmm {

struct StaleWinners;  // db/stale_winners.h

struct ReportOptions {
    // The report covers only devices whose name contains this text, whatever the case of its letters; an empty one stands for all.
    std::string device;
    Screen screen;
};

// The winners that the listings show.
std::vector<WinnerRow> winners_of(TuningDatabase& database, const ReportOptions& options);
std::vector<WinnerRow> shipped_winners_of(const ReportOptions& options);
// Devices with candidates of the problem; throws Error (no_winner) where there is none.
std::vector<ProblemOnDevice> candidates_of(TuningDatabase& database, const GemmProblem& problem, const ReportOptions& options);
// The winners grouped by device, in the order of the devices' first winners.
std::vector<std::vector<WinnerRow>> by_device(const std::vector<WinnerRow>& winners);

// ls: a line a winner.
std::string winners_report(TuningDatabase& database, const ReportOptions& options);
// shipped: the same list for the winners that ship with tmm.
std::string shipped_report(const ReportOptions& options);
// show: the winner of one problem, why it won, what it was chosen from. Throws Error (no_winner) that names the nearest
// tuned problems where this one is not tuned.
std::string problem_report(TuningDatabase& database, const GemmProblem& problem, const ReportOptions& options);
// candidates: a line a candidate of one problem, the fastest first.
std::string candidates_report(TuningDatabase& database, const GemmProblem& problem, const ReportOptions& options);
// diff: where two databases' winners differ, and how their times compare.
std::string difference_report(TuningDatabase& a, TuningDatabase& b, const ReportOptions& options);
// stale: the winners that tmm-tune would look at again, and what has changed since they were decided on.
std::string stale_report(const std::vector<StaleWinners>& devices, const ReportOptions& options);

}  // namespace tmm
