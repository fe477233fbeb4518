// How long a config of the wgmma family is taken to run, and what it depends on beyond the config: the cost model's part for tensor
// cores that TMA feeds.
#pragma once

#include "generator/families/predicted_time.h"
#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// Microseconds of a valid config's whole plan. A block's time is the longest of what the tensor cores, their operands' way through shared
// memory, and L2 need for its tiles; the kernel's time is that of the busiest SM, and no less than memory and its latency want. The
// constants are fitted to some 29,000 configs of 93 problems of 16 bits and tf32 on an H200: of two that differ by more than 3% it puts the
// faster first in 77 of 100, and the config that it puts first takes 1.04 times as long as the fastest.
PredictedTime wgmma_estimate(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

// Are all rows of A and B that TMA brings whole lines of 128 bytes? Where they are not, the L2 is asked for two lines a row of a box, not
// one.
bool rows_are_whole_lines(const GemmProblem& problem, int planes);

}  // namespace tmm
