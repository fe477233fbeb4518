// What the search tries of the simt family.
#pragma once

#include <vector>

#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// Configs worth a prediction, for FP32 problems alone; some may be invalid for the problem.
std::vector<KernelConfig> simt_configs(const GemmProblem& problem, const DeviceInfo& device);
// The registers that a simt kernel's threads want, as a part of those that they can have.
double simt_register_need(const KernelConfig& config, const KernelSignature& signature, const DeviceInfo& device);

// The same for a config that nobody has compiled and that is to be sure not to spill: it counts what some architectures and copies want
// besides.
double simt_most_registers(const KernelConfig& config, const KernelSignature& signature, const DeviceInfo& device);

}  // namespace tmm
