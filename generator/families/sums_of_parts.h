// The kernels that add up what a product leaves in parts.
#pragma once

#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// Adds up the partial results of split_k.
KernelConfig reduce_config(const GemmProblem& problem, const KernelConfig& config);
// Adds up the parts of tiles that blocks share by stream_k.
KernelConfig fixup_config(const KernelConfig& config);

}  // namespace tmm
