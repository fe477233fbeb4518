// The ways that simt may take through a thread's products (tmm::fma_order).
#pragma once

#include <vector>

#include "tmm/config.h"
#include "tmm/signature.h"

namespace tmm {

// The one to begin with: out of which ptxas made the fewest FFMAs that find none of their operands again, in the SASS of most of 270
// kernels for compute capability 9.0 (CUDA 13.0). config: simt's, its own order is ignored.
int likely_order(const KernelConfig& config, const KernelSignature& signature);

// The config with each other order that its thread tile can take.
std::vector<KernelConfig> with_other_orders(const KernelConfig& config);

}  // namespace tmm
