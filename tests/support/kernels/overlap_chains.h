// Configs of all families, of kernels that overlap, for chains of products each of which is an operand of the next.
#pragma once

#include <vector>

#include "tmm/vocabulary/config.h"

namespace tmm::testing {

struct OverlapChain {
    // Square, so that a product's result is an operand of the next.
    const char* shape;
    // The config is given without overlap.
    const char* config;
};

// Their plans have steps of every family that is one.
const std::vector<OverlapChain>& overlap_chains();

KernelConfig config_of(const OverlapChain& chain);

}  // namespace tmm::testing
