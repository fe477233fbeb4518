// The first step of a product whose operands lie badly: rows that do not start at multiples of 16 bytes, or that run along K. It
// copies A, B or both into the workspace as simt reads them best, k lines of m or n elements, each line aligned.
//
//   A (m x k), rows along K:              packed: k lines along m
//
//        k ->                                   m ->
//    m | a00 a01 a02 …                    k | a00 a10 a20 …
//      v a10 a11 a12 …        ----->        v a01 a11 a21 …
//
// Such a matrix goes through a square in shared memory, so that both sides are read and written along their rows. Lines past K, up to whole
// squares, are zeros: they add nothing to the sums of tiles that reach so far.
#pragma once

#include "tmm/args.h"
#include "tmm/pack.h"
#include "tmm/previous_kernel.cuh"
#include "tmm/shared_memory.cuh"

namespace tmm::pack {

// How much of a square stands before the operand's edges, and how many of its lines before the copy's.
struct SquareEdges {
    int outer;
    int k;
    int lines;
};

// Copies one square of an operand, all of its elements under way at once. turned: the operand's rows run along K. inside: no edge cuts it.
template <bool turned, bool inside>
__device__ inline void copy_square(const float* source, i64 ld, float* destination, i64 packed_ld, SquareEdges edges, float* square) {
    const int lane = static_cast<int>(threadIdx.x) % kTile;
    const int row = static_cast<int>(threadIdx.x) / kTile;
    const int rows = turned ? edges.outer : edges.k;
    const int columns = turned ? edges.k : edges.outer;
    float values[kTile / kRows];
    const float* from = source + row * ld + lane;
#pragma unroll
    for (int i = 0; i < kTile; i += kRows, from += kRows * ld) values[i / kRows] = inside || (row + i < rows && lane < columns) ? *from : 0;
    if constexpr (turned) {
        // The last square has been read before this one is written.
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kTile; i += kRows) square[(row + i) * (kTile + 1) + lane] = values[i / kRows];
        // The square is complete before its columns are read.
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kTile; i += kRows) values[i / kRows] = square[lane * (kTile + 1) + row + i];
    }
    float* to = destination + row * packed_ld + lane;
#pragma unroll
    for (int i = 0; i < kTile; i += kRows, to += kRows * packed_ld) {
        if (inside || (row + i < edges.lines && lane < edges.outer)) *to = values[i / kRows];
    }
}

constexpr int up_to_a_square(i64 left) {
    return left < kTile ? static_cast<int>(left) : kTile;
}

// The tile-th square of a batch of operands of outer x k elements, whose copies have `lines` lines.
template <bool turned>
__device__ inline void pack_tile(const float* matrix, i64 ld, i64 stride, i64 outer, i64 k, i64 lines, i64 tile, float* packed,
                                 float* square) {
    const i64 tiles_outer = (outer + kTile - 1) / kTile;
    const i64 tiles_k = (k + kTile - 1) / kTile;
    const i64 row_of_tiles = tile / tiles_outer;
    const i64 batch = row_of_tiles / tiles_k;
    const i64 outer0 = (tile - row_of_tiles * tiles_outer) * kTile;
    const i64 k0 = (row_of_tiles - batch * tiles_k) * kTile;
    const float* const source = matrix + batch * stride + (turned ? outer0 * ld + k0 : k0 * ld + outer0);
    float* const destination = packed + (batch * lines + k0) * packed_ld(outer) + outer0;
    const SquareEdges edges{up_to_a_square(outer - outer0), up_to_a_square(k - k0), up_to_a_square(lines - k0)};
    if (edges.outer == kTile && edges.k == kTile)
        copy_square<turned, true>(source, ld, destination, packed_ld(outer), edges, square);
    else
        copy_square<turned, false>(source, ld, destination, packed_ld(outer), edges, square);
}

template <KernelSignature signature, KernelConfig config>
__device__ void kernel(const GemmArgs& args) {
    static_assert(first_violation(config, signature) == nullptr);
    wait_for_previous_kernel();
    SharedMemory shared;
    float* square = shared.take<float, kTile*(kTile + 1)>()[0];
    float* packed_a = static_cast<float*>(args.workspace);
    float* packed_b = packed_a + (packs_a(config) ? packed_elements(args.m, args.k, args.batch) : 0);
    const i64 tiles_a = packs_a(config) ? tiles(args.m, args.k, args.batch) : 0;
    const i64 tiles_b = packs_b(config) ? tiles(args.n, args.k, args.batch) : 0;
    for (i64 tile = blockIdx.x; tile < tiles_a + tiles_b; tile += gridDim.x) {
        if (tile < tiles_a)
            pack_tile<signature.op_a == Operation::none>(static_cast<const float*>(args.a), args.lda, args.stride_a, args.m, args.k,
                                                         packed_depth(args.k), tile, packed_a, square);
        else
            pack_tile<signature.op_b == Operation::transpose>(static_cast<const float*>(args.b), args.ldb, args.stride_b, args.n, args.k,
                                                              packed_depth(args.k), tile - tiles_a, packed_b, square);
    }
}

}  // namespace tmm::pack
