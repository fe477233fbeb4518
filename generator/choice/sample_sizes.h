// Where one size of a problem varies, as tokens do: the few sizes that are tuned, from whose results a near winner is chosen for all
// others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "generator/machine/device_info.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// The problem of one size, all else being equal.
using ProblemOfSize = std::function<GemmProblem(std::int64_t size)>;

inline constexpr std::size_t kMostSampleSizes = 16;

// At most so many sizes of first to last, in ascending order: what is predicted to be the fastest at one of them is predicted to be nearly
// as fast as anything at every size that is closest to it. They lie closer where the predicted config changes.
std::vector<std::int64_t> sample_sizes(std::int64_t first, std::int64_t last, const ProblemOfSize& problem_of, const DeviceInfo& device,
                                       std::size_t most = kMostSampleSizes);

}  // namespace tmm
