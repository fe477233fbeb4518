// The times of a problem's configs that the database's measurements still support.
#pragma once

#include <vector>

#include "db/store/tuning_database.h"

namespace tmm {

// The newest row of each config, whatever text its kernel had, if it passed: the config may have been found wrong since an older row. The
// fastest comes first. rows: the newest first, as TuningDatabase::measurements gives them.
std::vector<MeasuredCandidate> verified_times(const std::vector<MeasuredCandidate>& rows);

}  // namespace tmm
