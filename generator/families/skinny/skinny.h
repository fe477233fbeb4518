// What the parts of the family skinny on the host know of each other: arguments, candidates and estimates.
#pragma once

#include <cstddef>
#include <vector>

#include "generator/families/predicted_time.h"
#include "generator/machine/device_info.h"
#include "generator/schedule/schedule.h"
#include "generator/steps/launch_step.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

std::size_t bind_skinny(const Schedule& schedule, const LaunchStep& step, const GemmCall& call, std::byte* arguments);
TensorMapRequests skinny_tensor_maps(const LaunchStep& step, const std::byte* arguments);

// What the search tries of the skinny family.

// Configs worth a prediction; some may be invalid for the problem. They are for FP32 problems of a few rows, or columns, alone, whose
// operands' rows run along K at multiples of 16 bytes, on devices with TMA.
std::vector<KernelConfig> skinny_configs(const GemmProblem& problem, const DeviceInfo& device);

// How long a config of the skinny family is taken to run: the cost model's part for few rows whose columns run along K.

// Microseconds of a valid config's whole plan: memory's time, that of the instructions and that of the stages that are waited for, of which
// the longest counts most, and what a block's first tile and its sums take alone. The constants are fitted to 2,142 configs of 10 problems
// of 4 to 40 rows on an H200: of two that differ by more than 3% it puts the faster first in 79 of 100, and the fastest of its first 8
// was at most 0.7% slower than the fastest of all.
PredictedTime skinny_estimate(const Schedule& schedule, const DeviceInfo& device);

// Registers that a thread needs at once: for its sums, its columns, rows that are read ahead, addresses.
int skinny_registers(const KernelConfig& config);

}  // namespace tmm
