// The test whether planes hold the floats that they stand for, for the kernel that multiplies them and for the kernel that multiplies the
// floats instead.
#pragma once

#include "tmm/steps/planes/rules.h"

namespace tmm::planes {

// The answer is the same in every warp; a warp asks with all of its lanes.
__device__ inline bool any_unfit(const UnfitMarks& a, const UnfitMarks& b) {
    constexpr unsigned every_lane = 0xffffffffu;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    unsigned unfit = 0;
    // Both operands' marks are read at once, since each read takes a trip to L2.
    const i64 most = a.count > b.count ? a.count : b.count;
    for (i64 i = lane; i < most; i += 32) unfit |= (i < a.count ? a.of_tile[i] : 0) | (i < b.count ? b.of_tile[i] : 0);
    return __any_sync(every_lane, unfit != 0);
}

}  // namespace tmm::planes
