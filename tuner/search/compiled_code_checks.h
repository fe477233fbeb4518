// Judges a candidate by the compiler's reports before it runs.
#pragma once

#include <optional>
#include <vector>

#include "db/store/measurement.h"
#include "generator/machine/device_info.h"
#include "tuner/search/candidates.h"
#include "tuner/search/compile_queue.h"

namespace tmm {

// The outcome of a candidate that need not run. kernels: a report for each of its kernels. Spills count from the kernel that multiplies on:
// the kernels that copy operands before it have the same text for all candidates that copy them, and show in their times. The default
// config is what an untuned call runs, so it is measured whatever it spills.
std::optional<Measurement> rejection(const Candidate& candidate, const std::vector<CompileQueue::Result>& kernels, const DeviceInfo& device,
                                     bool is_default);

}  // namespace tmm
