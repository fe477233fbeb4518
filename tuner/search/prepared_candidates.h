// The candidates of a problem whose turn is near.
#pragma once

#include "db/store/tuning_database.h"
#include "generator/compile/kernel_book.h"
#include "tuner/options/budget.h"
#include "tuner/options/tuning_options.h"
#include "tuner/search/pending_problem.h"

namespace tmm {

// Makes them, unless the problem has them: those of a search, or, where it races, its old winner and the first guesses.
void make_ready(PendingProblem& problem, const Turn& turn, const TuningOptions& options, const DeviceInfo& device, KernelBook& book,
                TuningDatabase& database);

}  // namespace tmm
