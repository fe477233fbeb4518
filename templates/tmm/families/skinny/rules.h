// This file says what a skinny kernel needs and allows (kernel.cuh). It knows the operands by size (few_by_many.h).
#pragma once

#include "tmm/copy/shared_layout.h"
#include "tmm/schedule/few_by_many.h"
#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"
#include "tmm/vocabulary/tensor_map.h"

namespace tmm {

struct SkinnyArgs : GemmArgs {
    TensorMap few;
    TensorMap many;
};

namespace skinny {

// What elements are, and what they are summed in.
using Real = float;

// How many of a warp's lanes share the k of one line of shared memory: as many vectors fill all banks.
constexpr int kLanesAlongK = 8;
constexpr int kVector = 4;
constexpr int kLine = kLanesAlongK * kVector;
// How many rows of few are on their way from shared memory while another row is multiplied.
constexpr int kRowsAhead = 2;

// A warp's other lanes share the block's rows, and columns.
constexpr int lanes_m(const KernelConfig& c) {
    return c.block_m / c.thread_m;
}
constexpr int lanes_n(const KernelConfig& c) {
    return 32 / kLanesAlongK / lanes_m(c);
}
constexpr int warps_n(const KernelConfig& c) {
    return c.block_n / (c.thread_n * lanes_n(c));
}
constexpr int warps(const KernelConfig& c) {
    return warps_n(c) * c.slice_k;
}
constexpr int threads(const KernelConfig& c) {
    return warps(c) * 32;
}

// A stage's k that belong to one slice.
constexpr int slice_depth(const KernelConfig& c) {
    return c.block_k / c.slice_k;
}

constexpr int few_elements(const KernelConfig& c) {
    return c.block_m * c.block_k;
}
constexpr int stage_elements(const KernelConfig& c) {
    return (c.block_m + c.block_n) * c.block_k;
}
constexpr int stage_bytes(const KernelConfig& c) {
    return stage_elements(c) * static_cast<int>(sizeof(Real));
}
// While a tile is multiplied, the stage of the tile so many tiles before it is filled anew. After two tiles all warps have most likely read
// it, and nobody waits; after one tile one stage more is under way, which counts where memory is waited for otherwise (on an H200, up to
// some 100 kB an SM).
constexpr int refill_behind(const KernelConfig& c) {
    constexpr int enough_bytes = 100000;
    return (c.stages - 2) * stage_bytes(c) > enough_bytes ? 2 : 1;
}
// The ring of stages, in which the slices' sums meet at the end.
constexpr int ring_elements(const KernelConfig& c) {
    return c.stages * stage_elements(c);
}
constexpr int sums_of_slices(const KernelConfig& c) {
    return c.slice_k * c.block_m * c.block_n;
}
// Two barriers for each stage: it has landed, and it has been read.
constexpr int barriers(const KernelConfig& c) {
    return 2 * c.stages;
}
constexpr i64 shared_bytes(const KernelConfig& c, const KernelSignature&) {
    return shared_tile_bytes<Real>(ring_elements(c)) + shared_tile_bytes<unsigned long long>(barriers(c));
}

// Rows of both operands run along K.
constexpr bool runs_along_k(const KernelSignature& s) {
    return s.op_a == Operation::none && s.op_b == Operation::transpose;
}

constexpr const char* first_violation(const KernelConfig& c, const KernelSignature& s) {
    if (const char* violation = float_types_violation(s)) return violation;
    if (!runs_along_k(s)) return "skinny takes operands whose rows run along K: ops=nt of row-major matrices, tn of column-major ones";
    if (s.align_a < 16 || s.align_b < 16)
        return "TMA needs rows of A and B that start at multiples of 16 bytes: align=16, lda and ldb multiples of 4";
    if (c.vector_width != kVector) return "skinny's vector_width is 4";
    if (c.thread_m < 1 || c.thread_m > 16 || c.thread_n < 1 || c.thread_n > 16) return "thread_m and thread_n are 1 to 16";
    if (c.thread_m * c.thread_n % kLanesAlongK != 0)
        return "lanes that share K divide a thread's sums among themselves: thread_m * thread_n is a multiple of 8";
    if (c.block_m != c.thread_m && c.block_m != 2 * c.thread_m && c.block_m != 4 * c.thread_m)
        return "block_m is 1, 2 or 4 times thread_m: a warp holds all rows";
    if (c.block_n < 1 || c.block_n % (c.thread_n * lanes_n(c)) != 0 || c.block_n > kLargestBox)
        return "block_n is a multiple of the columns of a warp, thread_n * 4 * thread_m / block_m, and at most 256";
    if (c.slice_k != 1 && c.slice_k != 2 && c.slice_k != 4 && c.slice_k != 8) return "slice_k is 1, 2, 4 or 8";
    // Boxes of rows of 128 bytes would be swizzled (TensorMapRequest).
    if (c.block_k <= kLine || c.block_k > kLargestBox || c.block_k % (kLine * c.slice_k) != 0)
        return "block_k is a multiple of 32 * slice_k from 64 to 256";
    if (threads(c) > 1024) return "a block has at most 1024 threads";
    if (c.stages < 3 || c.stages > 8) return "stages is 3 to 8";
    if (c.boundary != boundary::hardware) return "skinny's boundary mode is hardware";
    if (c.split_k < 1 || c.split_k > 1024) return "split_k is 1 to 1024";
    if (c.swap_ab != 0 && c.swap_ab != 1) return "swap_ab is 0 or 1";
    if (c.min_blocks < 1 || c.min_blocks > 8) return "min_blocks is 1 to 8";
    return nullptr;
}

constexpr i64 blocks(const KernelConfig& c, i64 m, i64 n, i64 batch) {
    return blocks_few_by_many(c, m, n, batch);
}

// The longest chain of roundings: a lane's own k, the halvings that add the lanes up, and the slices.
constexpr i64 longest_chain(const KernelConfig& c, i64 k) {
    return (k + c.block_k - 1) / c.block_k * (slice_depth(c) / kLanesAlongK) + 3 + c.slice_k;
}

}  // namespace skinny
}  // namespace tmm
