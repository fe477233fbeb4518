// What the search tries of the wgmma family, and how long it takes that to take.
#pragma once

#include <vector>

#include "generator/device_info.h"
#include "tmm/config.h"
#include "tmm/problem.h"

namespace tmm {

// Configs worth a prediction, for every tile that the problem's shape may want; some may be invalid for it. Neither split nor packed.
std::vector<KernelConfig> wgmma_tiles(const GemmProblem& problem, const DeviceInfo& device, int planes);

// The same tile with K in `split` parts, summed by clusters of `cluster` blocks and, where that leaves several, a second kernel.
KernelConfig wgmma_split(KernelConfig config, int split, int cluster);

// Microseconds, good to a factor of two, of a valid config's main kernel and its sums. A block's time is the longest of what the
// tensor cores, their operands' way through shared memory, and L2 need for its tiles; the kernel's that of the busiest SM, no less than
// memory and its latency want.
double wgmma_estimate(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

}  // namespace tmm
