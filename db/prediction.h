// What is predicted of a config on a device that the database names.
#pragma once

#include <optional>

#include "db/tuning_database.h"
#include "generator/families/predicted_time.h"
#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// A device of which the database keeps little, with the limits of its model and the profile that was measured of it; nothing where tmm does
// not know its generation.
std::optional<DeviceInfo> modelled_device(const DeviceInfo& kept, TuningDatabase& database);

// Nothing is predicted where the device is not known, or the config is not valid there.
std::optional<PredictedTime> predicted_time(const GemmProblem& problem, const KernelConfig& config,
                                            const std::optional<DeviceInfo>& device);

}  // namespace tmm
