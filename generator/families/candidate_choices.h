// What the candidates of several families choose among: boundary modes, stages, orders of FMAs, and what TMA takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generator/machine/device_info.h"
#include "generator/schedule/schedule.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/signature.h"

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

// How a config meets the edges of a problem's matrices.

// Are a part's rows and columns, and k, whole tiles?
bool divides(const Extent& part, std::int64_t k, int block_m, int block_n, int block_k);

// The winner of one problem as it serves another (Product::adapt): where its tiles divide no other sizes than its own, it looks for edges.
KernelConfig with_edges_where_needed(const GemmProblem& problem, const GemmProblem& tuned, const KernelConfig& config);

// The ways that simt may take through a thread's products (tmm::fma_order).

// The order to begin with. It is the fastest, or within 1% of it, on the average over the 200 kernels that were measured in four orders or
// more (one H200, NVRTC 13.0). Thread tiles of 16 x 8 elements were not measured: for these it is the order with the fewest slow FFMAs in
// SASS. config: simt's; its own order is ignored.
int likely_order(const KernelConfig& config, const KernelSignature& signature);

// The config with each other order that its thread tile can take.
std::vector<KernelConfig> with_other_orders(const KernelConfig& config);

// What the copy engine can bring.

// Why it can't bring the problem's operands; stores: nor bring results to C.
std::optional<std::string> why_no_tma(const GemmProblem& problem, const DeviceInfo& device, bool stores);

}  // namespace tmm
