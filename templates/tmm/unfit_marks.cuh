// Whether planes hold what they stand for: asked by the kernel that multiplies them, and by the one that does instead.
#pragma once

#include "tmm/planes.h"

namespace tmm::planes {

// The same in every warp that asks with all of its lanes.
__device__ inline bool any_unfit(const UnfitMarks& a, const UnfitMarks& b) {
    constexpr unsigned every_lane = 0xffffffffu;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    unsigned unfit = 0;
    for (i64 i = lane; i < a.count; i += 32) unfit |= a.of_tile[i];
    for (i64 i = lane; i < b.count; i += 32) unfit |= b.of_tile[i];
    return __any_sync(every_lane, unfit != 0);
}

}  // namespace tmm::planes
