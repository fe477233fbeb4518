// What the search tries of the families that multiply by FMAs, simt and gemv.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/device_info.h"
#include "tmm/config.h"
#include "tmm/problem.h"
#include "tmm/signature.h"

namespace tmm {

// Configs worth a prediction; some may be invalid for the problem. Those of FP32 problems alone.
std::vector<KernelConfig> simt_configs(const GemmProblem& problem, const DeviceInfo& device);
// The registers that a simt kernel's threads want, as a part of those that they can have.
double simt_register_need(const KernelConfig& config, const KernelSignature& signature, const DeviceInfo& device);
// None where the problem has more than a few rows and columns.
std::vector<KernelConfig> gemv_configs(const GemmProblem& problem, const DeviceInfo& device);

}  // namespace tmm
