// The naive family: one thread computes one element of C straight from global memory, with a bounds check. It takes any
// size, any leading dimension and any element-aligned pointer, which makes it the kernel of last resort.
#pragma once

#include "tmm/copy/batch.cuh"
#include "tmm/copy/previous_kernel.cuh"
#include "tmm/families/naive/rules.h"
#include "tmm/output/output.cuh"
#include "tmm/vocabulary/args.h"

namespace tmm::naive {

template <class Kernel>
__device__ void kernel(const GemmArgs& args) {
    static_assert(first_violation(Kernel::config, Kernel::signature) == nullptr);
    using Sum = SumOf<Kernel>;
    wait_for_previous_kernel();
    const i64 tiles_m = (args.m + Kernel::config.block_m - 1) / Kernel::config.block_m;
    const i64 tiles_n = (args.n + Kernel::config.block_n - 1) / Kernel::config.block_n;
    const i64 tiles = tiles_m * tiles_n * args.batch;
    const OutputScalars<Kernel> scalars = output_scalars<Kernel>(args);
    // Steps from one k to the next along a row of op(A) and a column of op(B).
    const i64 step_a = Kernel::signature.op_a == Operation::none ? 1 : args.lda;
    const i64 step_b = Kernel::signature.op_b == Operation::none ? args.ldb : 1;

    for (i64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const i64 batch = tile / (tiles_m * tiles_n);
        const i64 row = tile / tiles_n % tiles_m * Kernel::config.block_m + threadIdx.x / Kernel::config.block_n;
        const i64 column = tile % tiles_n * Kernel::config.block_n + threadIdx.x % Kernel::config.block_n;
        if (row < args.m && column < args.n && is_wanted(Kernel::signature.result, row, column)) {
            const auto* a = matrix_a<Kernel>(args, batch) + (Kernel::signature.op_a == Operation::none ? row * args.lda : row);
            const auto* b = matrix_b<Kernel>(args, batch) + (Kernel::signature.op_b == Operation::none ? column : column * args.ldb);
            Sum sum = 0;
            for (i64 k = 0; k < args.k; ++k) sum = multiply_add(to_number<Sum>(a[k * step_a]), to_number<Sum>(b[k * step_b]), sum);
            output_to_c<Kernel>(args, scalars, batch).store_element(row, column, sum);
        }
    }
}

}  // namespace tmm::naive
