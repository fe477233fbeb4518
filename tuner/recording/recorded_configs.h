// The configs of a problem whose times are recorded.
#pragma once

#include <vector>

#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// The best by the model, of which the foremost stand there with overlap and without, and a few of the others that could serve the problem:
// always the same ones, so that problems share their kernels. The default config leads.
std::vector<KernelConfig> configs_to_record(const GemmProblem& problem, const DeviceInfo& device);

}  // namespace tmm
