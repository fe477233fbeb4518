// What the database's measurements of a problem say of its configs today.
#pragma once

#include <vector>

#include "db/tuning_database.h"

namespace tmm {

// The newest row of each config, whatever text its kernel had, if it passed: it may have been found wrong since an older one. The fastest
// first. rows: the newest first, as TuningDatabase::measurements gives them.
std::vector<MeasuredCandidate> verified_times(const std::vector<MeasuredCandidate>& rows);

}  // namespace tmm
