// This file says which part of few * many a block works on (few_by_many.h), and how its threads' sums become C.
#pragma once

#include "tmm/output/output.cuh"
#include "tmm/tile/few_by_many.h"
#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

template <class Kernel>
constexpr bool is_swapped = Kernel::config.swap_ab != 0;

// How many rows few has, and how many columns many has; the block's first row and first column of these; its part of K; and the member of
// the batch.
struct FewByMany {
    i64 few_count;
    i64 many_count;
    i64 row0;
    i64 column0;
    i64 split;
    i64 batch;
};

template <class Kernel>
__device__ inline FewByMany place_of_block(const GemmArgs& args) {
    FewByMany place;
    place.few_count = few_count(Kernel::config, args.m, args.n);
    place.many_count = many_count(Kernel::config, args.m, args.n);
    // A grid has fewer than 2^31 blocks.
    const auto along_many = static_cast<unsigned>(blocks_many(Kernel::config, args.m, args.n));
    const auto along_few = static_cast<unsigned>(blocks_few(Kernel::config, args.m, args.n));
    const auto splits = static_cast<unsigned>(args.split_k);
    unsigned rest = blockIdx.x;
    place.column0 = i64{rest % along_many} * Kernel::config.block_n;
    rest /= along_many;
    place.row0 = i64{rest % along_few} * Kernel::config.block_m;
    rest /= along_few;
    place.split = rest % splits;
    place.batch = rest / splits;
    return place;
}

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
