// What the search tries of the skinny family.
#pragma once

#include <vector>

#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// Configs worth a prediction; some may be invalid for the problem. They are for FP32 problems of a few rows, or columns, alone, whose
// operands' rows run along K at multiples of 16 bytes, on devices with TMA.
std::vector<KernelConfig> skinny_configs(const GemmProblem& problem, const DeviceInfo& device);

}  // namespace tmm
