// The tile of simt that the rescue step multiplies with.
#pragma once

#include "tmm/vocabulary/config.h"

namespace tmm {

// Serves every problem that planes do, at a good part of the speed that FP32 FMAs have. A thread holds each sum twice, so its part of the
// tile is small: with 235 registers a thread finding nothing to do took 2.5 us longer than with 140 or 204 (1024 cubed on an H200).
inline constexpr KernelConfig kRescueTile{.family = family::simt,
                                          .block_m = 64,
                                          .block_n = 64,
                                          .block_k = 16,
                                          .thread_m = 8,
                                          .thread_n = 4,
                                          .stages = 3,
                                          .async_copy = 1,
                                          .vector_width = 4,
                                          .boundary = boundary::peeled,
                                          .min_blocks = 3};

}  // namespace tmm
