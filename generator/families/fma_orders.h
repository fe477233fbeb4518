// The ways that simt may take through a thread's products (tmm::fma_order).
#pragma once

#include <vector>

#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// The order to begin with. It is the fastest, or within 1% of it, on the average over the 200 kernels that were measured in four orders or
// more (one H200, NVRTC 13.0). Thread tiles of 16 x 8 elements were not measured: for these it is the order with the fewest slow FFMAs in
// SASS. config: simt's; its own order is ignored.
int likely_order(const KernelConfig& config, const KernelSignature& signature);

// The config with each other order that its thread tile can take.
std::vector<KernelConfig> with_other_orders(const KernelConfig& config);

}  // namespace tmm
