// What the families' candidates share: how K may be split, who sums the parts, how blocks fill the SMs, and the order of tiles.
#pragma once

#include <cstdint>
#include <vector>

#include "generator/machine/device_info.h"
#include "generator/plan/launch_plan.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// The part that so many blocks fill of the places that the SMs offer until all have run, when each SM takes its even share of the blocks.
double filled_places(std::int64_t blocks, const DeviceInfo& device);

// The choices of how many of a split's parts a cluster sums: none, and the largest power of two that divides the split. Clusters of 6
// blocks, several of which fit an SM, take 1.4 times as long as partial results in memory do.
std::vector<int> cluster_choices(int split, const DeviceInfo& device);
// The same choices where a block takes an SM: none, and all parts, however many there are. Clusters of 8 that leave a reduction to do never
// won.
std::vector<int> whole_cluster_choices(int split, const DeviceInfo& device);

// Splits of K worth trying: powers of two, and those that make whole waves of blocks, up to where the parts fill the device
// eight times over or have too little work each.
std::vector<int> split_choices(const GemmProblem& problem, const DeviceInfo& device, std::int64_t tiles, int block_k);

// Tile rows that a band of blocks walks together; 0 where a row or a column of tiles is that short already, or the device holds most tiles.
int band_choice(std::int64_t tiles_m, std::int64_t tiles_n, std::int64_t batch, const DeviceInfo& device);

}  // namespace tmm
