// A gate makes one value of two sums of a thread (rules.h, applies_gate): those of the two halves of the warpgroup's tile. What is stored
// is a tile that has half as many columns of C, in half the distance from C's first.
#pragma once

#include "tmm/families/wgmma/items.cuh"
#include "tmm/families/wgmma/store.cuh"
#include "tmm/output/output.cuh"
#include "tmm/ptx.cuh"

namespace tmm::wgmma {

// An item as its results lie in C.
template <KernelSignature signature, KernelConfig config>
__device__ inline WorkItem item_of_results(WorkItem item) {
    if constexpr (left_in_halves(config, signature)) item.left0 /= 2;
    if constexpr (right_in_halves(config, signature)) item.right0 /= 2;
    return item;
}

// group_row, group_column: where the warpgroup's results begin in the item's.
template <KernelSignature signature, KernelConfig config>
__device__ inline void apply_gate(const GemmArgs& args, const WorkItem& item, int group_row, int group_column, const Sums<config>& sums,
                                  ResultSums<signature, config>& results) {
    constexpr bool left = left_in_halves(config, signature);
    constexpr int rows = result_m(config, signature) / kRows;
    constexpr int count = result_n(config, signature) / 2;
    const int thread = ptx::thread_here();
    const int first_row = item.left0 + group_row + thread % kWarpgroup / 32 * kWarpRows + thread % 32 / 4;
    const int first_column = item.right0 + group_column + thread % 4 * 2;
    const i64 columns = columns_of_c<signature>(args);
#pragma unroll
    for (int i = 0; i < rows; ++i) {
#pragma unroll
        for (int sum = 0; sum < count; ++sum) {
            // A thread's sums of 8 columns are two of a row and two of the row 8 further down.
            const int row = first_row + i * kRows + sum / 2 % 2 * 8;
            const int column = first_column + sum / 4 * 8 + sum % 2;
            const i64 row_of_c = within<signature, i64>(left ? column : row, args.m);
            const i64 column_of_c = within<signature, i64>(left ? row : column, columns);
            const float value = left ? sums.of[i + rows][sum] : sums.of[i][sum + count];
            results.of[i][sum] = gated<signature>(args, row_of_c, column_of_c, sums.of[i][sum], value);
        }
    }
}

}  // namespace tmm::wgmma
