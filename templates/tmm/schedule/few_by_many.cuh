// Which part of few * many a block works on (few_by_many.h).
#pragma once

#include "tmm/schedule/few_by_many.h"
#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/config.h"

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

}  // namespace tmm
