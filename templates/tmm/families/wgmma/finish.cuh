// Bias and activation, or an expression, are applied to a warpgroup's sums where these stand, in registers:
//
//     sums = activation(x + bias)                    all of them        (here)
//     box  = sums, box -> C                         some at a time     (boxes.cuh)
//
// A box holds 16 elements of a thread, and each box waits for the one before it to be read. An exponential and a reciprocal take some 100
// clocks; with those of all sums at hand one waits behind the other, while box by box they would be waited for each time.
#pragma once

#include "tmm/families/wgmma/items.cuh"
#include "tmm/families/wgmma/pipeline.cuh"
#include "tmm/families/wgmma/store.cuh"
#include "tmm/output/epilogue.cuh"
#include "tmm/output/output.cuh"
#include "tmm/ptx.cuh"

namespace tmm::wgmma {

// The bias of the warpgroup's results comes near while their sums are multiplied.
template <class Kernel>
__device__ inline void prefetch_bias_of_tile(const GemmArgs& args, const WorkItem& item, int group_row, int group_column) {
    constexpr bool along_columns = Kernel::signature.bias == BiasAxis::columns;
    constexpr bool along_left = along_columns == (Kernel::config.swap_ab != 0);
    const int first = along_left ? item.left0 + group_row : item.right0 + group_column;
    const int count = along_left ? group_m(Kernel::config) : group_n(Kernel::config);
    prefetch_bias<Kernel>(args.epilogue, first, count, along_columns ? columns_of_c<Kernel>(args) : rows_of_c<Kernel>(args),
                          ptx::thread_here() % kWarpgroup, kWarpgroup);
}

// So does the residual, where no box brings it.
template <class Kernel>
__device__ inline void prefetch_residual_of_tile(const GemmArgs& args, const WorkItem& item, int group_row, int group_column) {
    constexpr int left = result_m(Kernel::config, Kernel::signature);
    constexpr int right = result_n(Kernel::config, Kernel::signature);
    const int first_left = item.left0 + group_row;
    const int first_right = item.right0 + group_column;
    prefetch_residual<Kernel>(args, Kernel::config.swap_ab ? first_right : first_left, Kernel::config.swap_ab ? first_left : first_right,
                              item.batch, Kernel::config.swap_ab ? right : left, Kernel::config.swap_ab ? left : right,
                              ptx::thread_here() % kWarpgroup, kWarpgroup);
}

// Calls visit(i, sum, row, column) for each of a thread's sums, with its row and column among those of the whole product. group_row,
// group_column: those of the warpgroup's first sum in the item's tile.
template <class Kernel, int rows, int count, class Visit>
__device__ inline void for_each_place(const GemmArgs& args, const WorkItem& item, int group_row, int group_column, Visit&& visit) {
    using P = Pipeline<Kernel>;
    const int thread = ptx::thread_here();
    const int row_of_thread = thread % kWarpgroup / 32 * kWarpRows + thread % 32 / 4;
    const int column_of_thread = thread % 4 * 2;
#pragma unroll
    for (int i = 0; i < rows; ++i) {
        const int first_row = P::left_slab(args, item.left0 + group_row + i * kRows) + row_of_thread;
#pragma unroll
        for (int sum = 0; sum < count; ++sum) {
            // A thread's sums of 8 columns are two of a row and two of the row 8 further down.
            const int column = sum / 4 * 8;
            const int in_slab = column % row_elements(P::right);
            const int slab = P::right_slab(args, item.right0 + group_column + column - in_slab);
            visit(i, sum, first_row + sum / 2 % 2 * 8, slab + in_slab + column_of_thread + sum % 2);
        }
    }
}

// All but a residual is applied to the sums; it is added where boxes bring it.
template <class Kernel>
struct BeforeResidual : Kernel {
    static constexpr KernelSignature signature = Kernel::signature.residual ? before_residual(Kernel::signature) : Kernel::signature;
};

template <class Kernel>
__device__ inline void finish_sums(const GemmArgs& args, const WorkItem& item, int group_row, int group_column, Sums<Kernel>& sums) {
    using Here = BeforeResidual<Kernel>;
    const OperandsOf<Here> operands = operands_of<Here>(args);
    const OutputScalars<Here> scalars = output_scalars<Here>(args);
    for_each_place<Kernel, group_m(Kernel::config) / kRows, group_n(Kernel::config) / 2>(
        args, item, group_row, group_column, [&](int i, int sum, int row, int column) {
            const i64 row_of_c = within<Here, i64>(Kernel::config.swap_ab ? column : row, args.m);
            const i64 column_of_c = within<Here, i64>(Kernel::config.swap_ab ? row : column, args.n);
            sums.of[i][sum] = Results<Here>::template result<false>(operands, scalars.alpha, scalars.beta, row_of_c, column_of_c,
                                                                    item.batch, sums.of[i][sum], {});
        });
}

}  // namespace tmm::wgmma
