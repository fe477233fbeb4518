// This file says what a naive kernel needs and allows (kernel.cuh).
#pragma once

#include "tmm/number/arithmetic.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm::naive {

constexpr int threads(const KernelConfig& c) {
    return c.block_m * c.block_n;
}
constexpr i64 shared_bytes(const KernelConfig&, const KernelSignature&) {
    return 0;
}

constexpr const char* first_violation(const KernelConfig& c, const KernelSignature& s) {
    if (const char* violation = converted_types_violation(s)) return violation;
    if (c.block_m < 1 || c.block_n < 1 || threads(c) > 1024) return "block_m * block_n is the block's threads: 1 to 1024";
    if (c.boundary != boundary::guarded) return "naive checks every element: its boundary mode is guarded";
    return nullptr;
}

// Blocks loop over the tiles of C, so that the grid's limit does not bound the problem.
constexpr i64 blocks(const KernelConfig& c, i64 m, i64 n, i64 batch) {
    const i64 tiles = ((m + c.block_m - 1) / c.block_m) * ((n + c.block_n - 1) / c.block_n) * batch;
    return tiles < 2147483647 ? tiles : 2147483647;
}

}  // namespace tmm::naive
