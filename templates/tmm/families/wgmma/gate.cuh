// A gate makes one value of two sums of a thread (rules.h, applies_gate): those of the two halves of the warpgroup's tile. What is stored
// is a tile that has half as many columns or rows of C, in half the distance from C's first.
#pragma once

#include "tmm/families/wgmma/finish.cuh"
#include "tmm/families/wgmma/items.cuh"
#include "tmm/families/wgmma/store.cuh"
#include "tmm/output/output.cuh"
#include "tmm/ptx.cuh"

namespace tmm::wgmma {

// An item as its results lie in C.
template <class Kernel>
__device__ inline WorkItem item_of_results(WorkItem item) {
    if constexpr (left_in_halves(Kernel::config, Kernel::signature)) item.left0 /= 2;
    if constexpr (right_in_halves(Kernel::config, Kernel::signature)) item.right0 /= 2;
    return item;
}

// group_row, group_column: where the warpgroup's results begin in the item's.
template <class Kernel>
__device__ inline void apply_gate(const GemmArgs& args, const WorkItem& item, int group_row, int group_column, const Sums<Kernel>& sums,
                                  ResultSums<Kernel>& results) {
    constexpr bool left = left_in_halves(Kernel::config, Kernel::signature);
    constexpr int rows = result_m(Kernel::config, Kernel::signature) / kRows;
    constexpr int count = result_n(Kernel::config, Kernel::signature) / 2;
    const i64 columns = columns_of_c<Kernel>(args);
    for_each_place<Kernel, rows, count>(args, item, group_row, group_column, [&](int i, int sum, int row, int column) {
        const i64 row_of_c = within<Kernel, i64>(Kernel::config.swap_ab ? column : row, rows_of_c<Kernel>(args));
        const i64 column_of_c = within<Kernel, i64>(Kernel::config.swap_ab ? row : column, columns);
        const SumOf<Kernel> value = left ? sums.of[i + rows][sum] : sums.of[i][sum + count];
        results.of[i][sum] = gated<Kernel>(args, row_of_c, column_of_c, sums.of[i][sum], value);
    });
}

}  // namespace tmm::wgmma
