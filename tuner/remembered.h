// Configs that are known to be fast for a problem, whatever a search offers today.
#pragma once

#include <vector>

#include "db/tuning_database.h"
#include "generator/device_info.h"

namespace tmm {

// The problem and, of 16 bits, that with the other type: kernels take as long for both, near enough to say which are worth measuring.
std::vector<GemmProblem> problems_alike(const GemmProblem& problem);

// Those that serve the problem: `winners`, the fastest few of what was measured, and the winners that ship with tmm, with either type of
// 16 bits: those of the device's model first, then those of other models of its compute capability. rows: the problem's, the newest first,
// as TuningDatabase::measurements gives them.
std::vector<KernelConfig> remembered_configs(const GemmProblem& problem, const std::vector<KernelConfig>& winners,
                                             const std::vector<MeasuredCandidate>& rows, const DeviceInfo& device);

}  // namespace tmm
