// Tunes one problem on one device: chooses candidates, has them compiled, verified and timed, lets the fastest race, and writes down who
// won.
#pragma once

#include "tuner/options/tuning_options.h"
#include "tuner/search/pending_problem.h"
#include "tuner/search/problem_search.h"
#include "tuner/search/run_report.h"

namespace tmm {

// Takes the problem from rematch or search to the end of its phases. number: the problem's own in the compiler's queue. Without a limit the
// report has a winner, or the reason why there is none; within a limit it may also say that the problem was not reached.
ProblemReport tune_problem(SearchContext& context, PendingProblem& problem, int number, const Turn& turn);

}  // namespace tmm
