// This file says what a reduce kernel needs and allows (kernel.cuh).
#pragma once

#include "tmm/tile/shared_layout.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm::reduce {

// Neighbouring elements of a row that a thread adds up: the partial sums are floats whatever C's type is.
constexpr int kVector = 4;
// How many shares of an element are added up before their sum joins the others.
constexpr int kAddedTogether = 8;

// block_n columns of one row, in vectors; block_m threads share the parts of each vector.
constexpr int threads(const KernelConfig& c) {
    return c.block_n / kVector * c.block_m;
}
constexpr i64 shared_bytes(const KernelConfig& c, const KernelSignature&) {
    return shared_tile_bytes<float>(c.block_m * c.block_n);
}

constexpr const char* first_violation(const KernelConfig& c, const KernelSignature& s) {
    if (const char* violation = converted_types_violation(s)) return violation;
    if (c.block_n < kVector || c.block_n % kVector != 0) return "reduce's block_n is a multiple of 4";
    if (c.block_m < 1 || threads(c) > 1024) return "block_m * block_n / 4 is the block's threads: 1 to 1024";
    return nullptr;
}

constexpr i64 blocks(const KernelConfig& c, i64 m, i64 n, i64 batch) {
    const i64 needed = m * ((n + c.block_n - 1) / c.block_n) * batch;
    return needed < 2147483647 ? needed : 2147483647;
}

constexpr i64 longest_chain(const KernelConfig& c, int split_k) {
    const int together = c.block_m < kAddedTogether ? c.block_m : kAddedTogether;
    return (split_k + c.block_m - 1) / c.block_m + together + (c.block_m + together - 1) / together;
}

}  // namespace tmm::reduce
