// What the compiler's reports say of a candidate before it runs.
#pragma once

#include <optional>
#include <vector>

#include "db/measurement.h"
#include "generator/device_info.h"
#include "tuner/candidate_compiler.h"
#include "tuner/candidates.h"

namespace tmm {

// The outcome of a candidate that need not run. kernels: a report for each of its. Spills count from the kernel that multiplies on: what
// copies operands before it is the same text for all candidates that copy them, and shows in their times. The default config is what an
// untuned call runs, so it races whatever it spills.
std::optional<Measurement> rejection(const Candidate& candidate, const std::vector<CandidateCompiler::Result>& kernels,
                                     const DeviceInfo& device, bool is_default);

}  // namespace tmm
