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

// The kernel that multiplies by FMAs where planes do not fit: simt's tile, with other sums.
struct Rescue {
    KernelConfig tile;

    friend constexpr bool operator==(const Rescue&, const Rescue&) = default;
};

}  // namespace tmm

namespace tmm::rescue {

// The k after which sums end and are added to the total.
constexpr int kPromotedDepth = 64;

// It serves every problem that planes do, at a good part of the speed that FP32 FMAs have. A thread holds each sum twice, so its part of
// the tile is small: with 235 registers a thread finding nothing to do took 2.5 us longer than with 140 or 204 (1024 cubed on an H200).
constexpr KernelConfig kTile{.family = family::simt,
                             .block_m = 64,
                             .block_n = 64,
                             .block_k = 16,
                             .thread_m = 8,
                             .thread_n = 4,
                             .stages = 3,
                             .async_copy = 1,
                             .vector_width = 4,
                             .boundary = boundary::peeled,
                             .min_blocks = 3};

constexpr int threads(const Rescue& r) {
    return simt::threads(r.tile);
}
constexpr i64 shared_bytes(const Rescue& r, const KernelSignature& s) {
    return simt::shared_bytes(r.tile, s);
}
constexpr const char* first_violation(const Rescue& r, const KernelSignature& s) {
    if (r.tile.block_k < 1 || kPromotedDepth % r.tile.block_k != 0) return "rescue's block_k divides 64";
    if (r.tile.slice_k != 1) return "rescue does not slice K: slice_k is 1";
    return simt::first_violation(r.tile, s);
}
// Tiles of C, for each part of K. Blocks loop over them.
constexpr i64 items(const Rescue& r, i64 m, i64 n, i64 batch, i64 split_k) {
    return ((m + r.tile.block_m - 1) / r.tile.block_m) * ((n + r.tile.block_n - 1) / r.tile.block_n) * batch * split_k;
}

}  // namespace tmm::rescue
