// How long a config of the skinny family is taken to run: the cost model's part for few rows whose columns run along K.
#pragma once

#include "generator/device_info.h"
#include "tmm/config.h"
#include "tmm/problem.h"

namespace tmm {

// Microseconds of a valid config's whole plan: memory's time, that of the instructions and that of the stages that are waited for, of which
// the longest counts most, and what a block's first tile and its sums take alone.
double skinny_estimate(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

}  // namespace tmm
