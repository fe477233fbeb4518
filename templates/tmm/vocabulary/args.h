// The arguments of a kernel at launch: the head that every family shares. A family that needs more derives its own struct from it.
#pragma once

#include "tmm/vocabulary/problem.h"

namespace tmm {

// Elements from one row of partial results to the next: rows start at multiples of 16 bytes.
constexpr i64 workspace_ld(i64 n) {
    return (n + 3) / 4 * 4;
}

// Elements from one line of a packed operand to the next: lines start at multiples of 16 bytes.
constexpr i64 packed_ld(i64 outer) {
    return (outer + 3) / 4 * 4;
}

// What a call gives to an epilogue. Rows and columns are counted from C's first, whatever part of C the kernel computes.
struct EpilogueArgs {
    const void* bias = nullptr;
    const void* residual = nullptr;
    i64 ldr = 0;
    i64 stride_r = 0;
    // p0 to p3 of an expression.
    float parameters[4] = {};
};

struct GemmArgs {
    const void* a = nullptr;
    const void* b = nullptr;
    void* c = nullptr;
    // Partial results in the accumulator's type: split-K's as [batch][split][m][workspace_ld(n)], stream-K's as [part][block_m][block_n].
    void* workspace = nullptr;
    i64 m = 0;
    i64 n = 0;
    i64 k = 0;
    i64 batch = 1;
    i64 lda = 0;
    i64 ldb = 0;
    i64 ldc = 0;
    i64 stride_a = 0;
    i64 stride_b = 0;
    i64 stride_c = 0;
    // Each of split_k parts covers k_per_split of K, a multiple of block_k; the last may be shorter or empty.
    i64 k_per_split = 0;
    int split_k = 1;
    int raster = 0;
    // Stream-K: how many of the first blocks share how many of the first tiles.
    int stream_blocks = 0;
    // The row of C, or with swap_ab the column, where the C of a strip begins; it stands where there would be a gap.
    int strip_begin = 0;
    i64 stream_tiles = 0;
    // Exact in double for every compute type.
    double alpha = 1;
    double beta = 0;
    // A factor that changes nothing (families/simt/kernel.cuh, store_part).
    float one = 1;
    EpilogueArgs epilogue = {};

    // The batch stride of A, or of B.
    constexpr i64 stride(bool of_b) const { return of_b ? stride_b : stride_a; }
};

}  // namespace tmm
