// Whether planes hold what they stand for: asked by the kernel that multiplies them, and by the one that does instead.
#pragma once

#include "tmm/planes.h"

namespace tmm::planes {

// The same in every warp that asks with all of its lanes.
__device__ inline bool any_unfit(const UnfitMarks& a, const UnfitMarks& b) {
    constexpr unsigned every_lane = 0xffffffffu;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    unsigned unfit = 0;
    // Both at once: each read takes a way to L2.
    const i64 most = a.count > b.count ? a.count : b.count;
    for (i64 i = lane; i < most; i += 32) unfit |= (i < a.count ? a.of_tile[i] : 0) | (i < b.count ? b.of_tile[i] : 0);
    return __any_sync(every_lane, unfit != 0);
}

}  // namespace tmm::planes
