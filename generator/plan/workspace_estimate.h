// How much workspace a config would need, without its plan being made.
#pragma once

#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// Bytes of workspace that a config's plan takes. Where that is more than devices have, so that the geometry's integers might overflow, it
// is only a bound.
double workspace_estimate(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

}  // namespace tmm
