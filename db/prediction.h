// What is predicted of a config on a device that the database names.
#pragma once

#include <optional>

#include "generator/families/predicted_time.h"
#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// device: what the database keeps of it. Nothing is predicted where tmm does not know its generation, or the config is not valid there.
std::optional<PredictedTime> predicted_time(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

}  // namespace tmm
