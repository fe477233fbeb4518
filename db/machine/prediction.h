// What is predicted of a config on a device that the database names.
#pragma once

#include <optional>

#include "db/store/tuning_database.h"
#include "generator/families/predicted_time.h"
#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// A device of which little is kept, with the limits of its model and its profile, which the database may have measured. Nothing where tmm
// does not know its generation, and for the emulated device, of which nothing is predicted.
std::optional<DeviceInfo> modelled_device(const DeviceInfo& kept);
std::optional<DeviceInfo> modelled_device(const DeviceInfo& kept, TuningDatabase& database);

// Nothing is predicted where the device is not known, or the config is not valid there.
std::optional<PredictedTime> predicted_time(const GemmProblem& problem, const KernelConfig& config,
                                            const std::optional<DeviceInfo>& device);

}  // namespace tmm
