// What the search tries of the gemv family.
#pragma once

#include <vector>

#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// Configs worth a prediction; some may be invalid for the problem. There are none where the problem has more than a few rows and columns.
std::vector<KernelConfig> gemv_configs(const GemmProblem& problem, const DeviceInfo& device);

}  // namespace tmm
