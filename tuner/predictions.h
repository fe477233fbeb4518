// What problems get that a budget did not reach: the config that the model takes to be the fastest, marked as such.
#pragma once

#include <vector>

#include "db/tuning_database.h"
#include "tuner/tuning_run.h"

namespace tmm {

// Into the reports, and into the database where nothing measured is known of the problem.
void predict(const std::vector<ProblemReport*>& unreached, const Environment& environment, TuningDatabase& database);

// What that takes for so many problems, where one prediction takes so long.
double seconds_to_predict(std::size_t problems, double seconds_each);

}  // namespace tmm
