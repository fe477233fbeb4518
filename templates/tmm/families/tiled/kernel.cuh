// The tiled family: a square of TILE_WIDTH x TILE_WIDTH threads computes a square tile of C, phase by phase. In each phase
// the block brings one tile of A and one of B into shared memory, each thread one element of both, and multiplies them.
//
//   op(A): m x k                op(B): k x n              C: m x n
//   +----+----+----+            +----+----+               +----+----+
//   |    |    |    |            |    | p0 |               |    |    |
//   +----+----+----+            +----+----+               +----+----+
//   | p0 | p1 | p2 |  block row |    | p1 | block column  |    |tile|  = p0*p0 + p1*p1 + p2*p2
//   +----+----+----+            +----+----+               +----+----+
//
// Each element brought from global memory serves TILE_WIDTH multiplications.
#pragma once

#include "tmm/copy/batch.cuh"
#include "tmm/copy/previous_kernel.cuh"
#include "tmm/copy/shared_memory.cuh"
#include "tmm/families/tiled/rules.h"
#include "tmm/output/output.cuh"
#include "tmm/vocabulary/args.h"

namespace tmm::tiled {

template <class Kernel>
__device__ void kernel(const GemmArgs& args) {
    static_assert(first_violation(Kernel::config, Kernel::signature) == nullptr);
    using T = ElementOfA<Kernel>;
    using Sum = SumOf<Kernel>;
    wait_for_previous_kernel();
    constexpr int width = Kernel::config.block_m;
    constexpr bool guarded = Kernel::config.boundary == boundary::guarded;
    SharedMemory shared;
    T* tile_a = shared.take<T, width * width>()[0];
    T* tile_b = shared.take<T, width * width>()[0];

    const int thread_row = static_cast<int>(threadIdx.x) / width;
    const int thread_column = static_cast<int>(threadIdx.x) % width;
    const i64 tiles_n = (args.n + width - 1) / width;
    const i64 tiles_m = (args.m + width - 1) / width;
    const i64 block = blockIdx.x;
    const i64 batch = block / (tiles_m * tiles_n);
    const i64 row = block / tiles_n % tiles_m * width + thread_row;
    const i64 column = block % tiles_n * width + thread_column;
    const T* a = matrix_a<Kernel>(args, batch);
    const T* b = matrix_b<Kernel>(args, batch);

    Sum sum = 0;
    for (i64 phase = 0; phase < args.k; phase += width) {
        const i64 k_of_a = phase + thread_column;
        const i64 k_of_b = phase + thread_row;
        // A and B meet their edges in different places: A at M and K, B at K and N. Zeros there add nothing.
        T element_a = 0;
        if (!guarded || (row < args.m && k_of_a < args.k))
            element_a = a[Kernel::signature.op_a == Operation::none ? row * args.lda + k_of_a : k_of_a * args.lda + row];
        T element_b = 0;
        if (!guarded || (k_of_b < args.k && column < args.n))
            element_b = b[Kernel::signature.op_b == Operation::none ? k_of_b * args.ldb + column : column * args.ldb + k_of_b];
        tile_a[thread_row * width + thread_column] = element_a;
        tile_b[thread_row * width + thread_column] = element_b;
        // The tiles are complete before anyone multiplies with them.
        __syncthreads();
#pragma unroll
        for (int k = 0; k < width; ++k)
            sum = multiply_add(to_number<Sum>(tile_a[thread_row * width + k]), to_number<Sum>(tile_b[k * width + thread_column]), sum);
        // Everyone has multiplied before the tiles are overwritten.
        __syncthreads();
    }

    if (!guarded || (row < args.m && column < args.n)) output_to_c<Kernel>(args, batch).store_element(row, column, sum);
}

}  // namespace tmm::tiled
