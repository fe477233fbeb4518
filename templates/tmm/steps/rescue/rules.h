// This file says what a rescue kernel needs and allows (kernel.cuh): what simt does.
#pragma once

#include "tmm/families/simt/rules.h"
#include "tmm/steps/planes/rules.h"
#include "tmm/vocabulary/args.h"

namespace tmm {

struct RescueArgs : GemmArgs {
    UnfitMarks unfit_a;
    UnfitMarks unfit_b;
};

}  // namespace tmm

namespace tmm::rescue {

// The k after which sums end and are added to the total.
constexpr int kPromotedDepth = 64;

constexpr int threads(const KernelConfig& c) {
    return simt::threads(c);
}
constexpr i64 shared_bytes(const KernelConfig& c, const KernelSignature& s) {
    return simt::shared_bytes(c, s);
}
constexpr const char* first_violation(const KernelConfig& c, const KernelSignature& s) {
    if (c.block_k < 1 || kPromotedDepth % c.block_k != 0) return "rescue's block_k divides 64";
    if (c.slice_k != 1) return "rescue does not slice K: slice_k is 1";
    return simt::first_violation(c, s);
}
// Tiles of C, for each part of K. Blocks loop over them.
constexpr i64 items(const KernelConfig& c, i64 m, i64 n, i64 batch, i64 split_k) {
    return ((m + c.block_m - 1) / c.block_m) * ((n + c.block_n - 1) / c.block_n) * batch * split_k;
}

}  // namespace tmm::rescue
