// One candidate of a search: judged by what was compiled, then verified and timed by the worker.
#pragma once

#include <cstddef>
#include <optional>

#include "tuner/search/problem_search.h"

namespace tmm {

// Keeps the candidate's result, or why it has none; a candidate that has neither afterwards is to be tried again. All its kernels are
// compiled. Returns how the search ends where it can't go on: no_winner, with the reason in the report, out_of_time or interrupted.
std::optional<Phase> measure_candidate(ProblemSearch& search, std::size_t index);

// Sees to it that a living worker holds the problem's operands. Returns as measure_candidate() does.
std::optional<Phase> prepare(ProblemSearch& search);

}  // namespace tmm
