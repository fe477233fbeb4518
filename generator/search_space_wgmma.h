// What the search tries of the wgmma family.
#pragma once

#include <vector>

#include "generator/device_info.h"
#include "tmm/config.h"
#include "tmm/problem.h"

namespace tmm {

// Configs worth a prediction, for every tile that the problem's shape may want; some may be invalid for it. Not split.
std::vector<KernelConfig> wgmma_tiles(const GemmProblem& problem, const DeviceInfo& device, int planes);

// The same tile with K in `split` parts, summed by clusters of `cluster` blocks and, where that leaves several, a second kernel.
KernelConfig wgmma_split(KernelConfig config, int split, int cluster);

// The same config with the boundary mode that its last tiles want: peeled where they lack 8 rows or more (wgmma::missing_rows). Its block_m
// and block_n are not 0.
KernelConfig with_wgmma_boundary(KernelConfig config, const GemmProblem& problem);

}  // namespace tmm
