// Problems that a budget did not reach get the config that the model takes to be the fastest, marked as such.
#pragma once

#include <vector>

#include "db/store/tuning_database.h"
#include "tuner/search/run_report.h"

namespace tmm {

// Writes the predictions into the reports, and into the database, whose environment is of the device, where nothing measured is known of
// the problem.
void predict(const std::vector<ProblemReport*>& unreached, const DeviceInfo& device, TuningDatabase& database);

// Seconds that this takes for so many problems, where one prediction takes seconds_each.
double seconds_to_predict(std::size_t problems, double seconds_each);

}  // namespace tmm
