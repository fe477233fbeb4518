// How the sums of a block's threads become C, in products of few rows and many columns (schedule/few_by_many.h).
#pragma once

#include "tmm/output/output.cuh"
#include "tmm/schedule/few_by_many.cuh"

namespace tmm {

// Adds up so many parts of each sum, in their order, and stores it. All threads of the block call this. part: the first of the parts in
// shared memory, each block_m rows of block_n elements, one after the other.
template <class Kernel, int parts, int threads>
__device__ inline void store_sums_of_parts(const GemmArgs& args, const FewByMany& place, const SumOf<Kernel>* part) {
    constexpr int part_size = Kernel::config.block_m * Kernel::config.block_n;
    constexpr bool swapped = is_swapped<Kernel>;
    auto output = output_of<Kernel>(args, place.batch, place.split, 1);
    (swapped ? output.results.origin.column0 : output.results.origin.row0) = args.strip_begin;
    for (int element = static_cast<int>(threadIdx.x); element < part_size; element += threads) {
        // Neighbouring threads store neighbouring elements of C.
        const int i = swapped ? element % Kernel::config.block_m : element / Kernel::config.block_n;
        const int j = swapped ? element / Kernel::config.block_m : element % Kernel::config.block_n;
        const i64 few_index = place.row0 + i;
        const i64 many_index = place.column0 + j;
        if (few_index < place.few_count && many_index < place.many_count) {
            SumOf<Kernel> sum = part[i * Kernel::config.block_n + j];
            for (int p = 1; p < parts; ++p) sum += part[p * part_size + i * Kernel::config.block_n + j];
            if constexpr (swapped)
                output.store_element(many_index, few_index, sum);
            else
                output.store_element(few_index, many_index, sum);
        }
    }
}

}  // namespace tmm
