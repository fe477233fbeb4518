// This file says what a tiled kernel needs and allows (kernel.cuh).
#pragma once

#include "tmm/copy/shared_layout.h"
#include "tmm/number/arithmetic.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm::tiled {

constexpr int threads(const KernelConfig& c) {
    return c.block_m * c.block_n;
}
constexpr i64 shared_bytes(const KernelConfig& c, const KernelSignature& s) {
    return 2 * shared_tile_bytes(s.type_a, c.block_m * c.block_k);
}

constexpr const char* first_violation(const KernelConfig& c, const KernelSignature& s) {
    if (const char* violation = one_type_or_bytes_violation(s)) return violation;
    if (c.block_m < 2 || c.block_m > 32) return "tiled's width is 2 to 32";
    if (c.block_n != c.block_m || c.block_k != c.block_m) return "tiled's tiles are square: block_m = block_n = block_k";
    if (c.boundary != boundary::exact && c.boundary != boundary::guarded) return "tiled's boundary mode is exact or guarded";
    return nullptr;
}

constexpr i64 blocks(const KernelConfig& c, i64 m, i64 n, i64 batch) {
    return ((m + c.block_m - 1) / c.block_m) * ((n + c.block_n - 1) / c.block_n) * batch;
}

}  // namespace tmm::tiled
