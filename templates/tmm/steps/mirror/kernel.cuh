// Makes C symmetric: a block brings a square from below the diagonal to shared memory, and writes its transpose above it, whole lines both
// times.
#pragma once

#include "tmm/copy/previous_kernel.cuh"
#include "tmm/copy/shared_memory.cuh"
#include "tmm/output/output.cuh"
#include "tmm/steps/mirror/rules.h"
#include "tmm/vocabulary/args.h"

namespace tmm::mirror {

template <class Kernel>
__device__ void kernel(const GemmArgs& args) {
    static_assert(first_violation(Kernel::step, Kernel::signature) == nullptr);
    using C = ElementOfC<Kernel>;
    constexpr int side = Kernel::step.side;
    constexpr int distance = row_distance(Kernel::step, Kernel::signature);
    SharedMemory shared;
    C* const square = shared.take<C, side * distance>()[0];
    const unsigned squares = static_cast<unsigned>((args.m + side - 1) / side);
    const unsigned columns = static_cast<unsigned>(folded_columns(squares));
    const unsigned all = static_cast<unsigned>(folded_rows(squares)) * columns;
    const unsigned number = blockIdx.x % all;
    const SquareOfTriangle<unsigned> place = unfolded(number / columns, number % columns, squares);
    const i64 row0 = i64{place.row} * side;
    const i64 column0 = i64{place.column} * side;
    const int x = static_cast<int>(threadIdx.x) % side;
    const int y = static_cast<int>(threadIdx.x) / side;
    constexpr int rows_at_once = kThreads / side;

    wait_for_previous_kernel();
    C* const c = matrix_c<Kernel>(args, blockIdx.x / all);
#pragma unroll
    for (int row = y; row < side; row += rows_at_once)
        if (row0 + row < args.m && column0 + x < args.m) square[row * distance + x] = c[(row0 + row) * args.ldc + column0 + x];
    // The square is there before it is written turned.
    __syncthreads();
#pragma unroll
    for (int row = y; row < side; row += rows_at_once)
        if (column0 + row < row0 + x && row0 + x < args.m) c[(column0 + row) * args.ldc + row0 + x] = square[x * distance + row];
}

}  // namespace tmm::mirror
