// Looks up what a database knows of one problem, device by device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/device_filter.h"
#include "db/records.h"
#include "db/tuning_database.h"

namespace tmm {

// The measurements and the decision for one problem on one device under the default policy.
struct ProblemOnDevice {
    DeviceInfo device;
    // The same device as predictions see it.
    std::optional<DeviceInfo> modelled;
    // The newest measurement of each config: those that are ok first, ordered by time.
    std::vector<TuningRecord> candidates;
    // The decision that counts for the problem's compute mode.
    std::optional<TuningRecord> decision;
};

// Looks the problem up under the default policy; the devices are in the order of their first row.
std::vector<ProblemOnDevice> look_up(TuningDatabase& database, const GemmProblem& problem, const DeviceFilter& devices);
// Throws Error (no_winner) that names the nearest tuned problems.
[[noreturn]] void fail_untuned(TuningDatabase& database, const GemmProblem& problem, const DeviceFilter& devices);

}  // namespace tmm
