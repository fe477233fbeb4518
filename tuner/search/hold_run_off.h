// The run-off of a problem's finalists.
#pragma once

#include <cstddef>
#include <variant>

#include "db/store/tuning_database.h"
#include "tuner/search/problem_search.h"

namespace tmm {

// Who won, as it goes into the database. The search adds to the record what it knows: how many candidates it had, and why it ended.
struct RunOffVerdict {
    // Place of the winner among the candidates.
    std::size_t winner = 0;
    // The winner and its runner-up with their times, all of one run-off, and why this one won.
    TuningDatabase::Decision decision = {};
    // The time of an earlier decision's winner there; 0 where it took no part.
    double old_winner_us = 0;
    // No run-off came to its end, for reasons from outside.
    bool disturbed = false;
};

// Has the finalists race until one wins, or decides without a race where there can't be one. Otherwise returns how the search ends, with
// the reason in the report.
std::variant<RunOffVerdict, Phase> hold_run_off(ProblemSearch& search);

}  // namespace tmm
