// How long a config of the mma family is taken to run: the cost model's part for mma.sync.
#pragma once

#include "generator/families/predicted_time.h"
#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// Microseconds of a valid config's whole plan: of the products, of the ways that tiles wait for each other, and of memory the longest
// counts most; results are stored when those are done. The constants are fitted to 1,550 configs of 19 bf16 problems on an H200: of two
// that differ by more than 3% it puts the faster first in 80 of 100, and the config that it puts first takes 1.06 times as long as the
// fastest.
PredictedTime mma_estimate(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

}  // namespace tmm
