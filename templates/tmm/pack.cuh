// The first step of a product whose operands lie badly: rows that do not start at multiples of 16 bytes, or that run along K. It
// copies A, B or both into the workspace as simt reads them best, k lines of m or n elements, each line aligned.
//
//   A (m x k), rows along K:              packed: k lines along m
//
//        k ->                                   m ->
//    m | a00 a01 a02 …                    k | a00 a10 a20 …
//      v a10 a11 a12 …        ----->        v a01 a11 a21 …
//
// Such a matrix goes through a square in shared memory, so that both sides are read and written along their rows.
#pragma once

#include "tmm/args.h"
#include "tmm/pack.h"
#include "tmm/previous_kernel.cuh"
#include "tmm/shared_memory.cuh"

namespace tmm::pack {

// Copies one square of an operand. turned: its rows run along K.
template <bool turned>
__device__ inline void pack_tile(const float* matrix, i64 ld, i64 stride, i64 outer, i64 k, i64 tile, float* packed, float* square) {
    const int lane = static_cast<int>(threadIdx.x) % kTile;
    const int row = static_cast<int>(threadIdx.x) / kTile;
    const i64 tiles_outer = (outer + kTile - 1) / kTile;
    const i64 tiles_k = (k + kTile - 1) / kTile;
    const i64 batch = tile / (tiles_outer * tiles_k);
    const i64 outer0 = tile % tiles_outer * kTile;
    const i64 k0 = tile / tiles_outer % tiles_k * kTile;
    const float* source = matrix + batch * stride;
    float* destination = packed + batch * k * packed_ld(outer);
    if constexpr (turned) {
        // The last square has been read before this one is written.
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kTile; i += kRows) {
            const i64 o = outer0 + row + i;
            if (o < outer && k0 + lane < k) square[(row + i) * (kTile + 1) + lane] = source[o * ld + k0 + lane];
        }
        // The square is complete before its columns are read.
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < kTile; i += kRows) {
        const i64 line = k0 + row + i;
        const i64 o = outer0 + lane;
        if (line < k && o < outer)
            destination[line * packed_ld(outer) + o] = turned ? square[lane * (kTile + 1) + row + i] : source[line * ld + o];
    }
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
            pack_tile<signature.op_a == Operation::none>(static_cast<const float*>(args.a), args.lda, args.stride_a, args.m, args.k, tile,
                                                         packed_a, square);
        else
            pack_tile<signature.op_b == Operation::transpose>(static_cast<const float*>(args.b), args.ldb, args.stride_b, args.n, args.k,
                                                              tile - tiles_a, packed_b, square);
    }
}

}  // namespace tmm::pack
