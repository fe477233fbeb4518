// Configs that are known to be fast for a problem, whatever a search offers today.
#pragma once

#include <vector>

#include "db/tuning_database.h"
#include "generator/device_info.h"

namespace tmm {

// Those that serve the problem: the fastest few of what was measured, then the winner that ships with tmm. rows: the problem's, the newest
// first, as TuningDatabase::measurements gives them.
std::vector<KernelConfig> remembered_configs(const GemmProblem& problem, const std::vector<MeasuredCandidate>& rows,
                                             const DeviceInfo& device);

}  // namespace tmm
