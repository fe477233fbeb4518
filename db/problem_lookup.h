// What a database knows of one problem, device by device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/records.h"
#include "db/tuning_database.h"

namespace tmm {

// What is known of one problem on one device under the default policy.
struct ProblemOnDevice {
    DeviceInfo device;
    // The newest of each config: ok ones first, by time.
    std::vector<TuningRecord> candidates;
    // The decision that counts for the problem's compute mode.
    std::optional<TuningRecord> decision;
};

// device: only devices whose name holds it, whatever the case of its letters; empty: all.
bool names_device(const std::string& device, const std::string& name);
// Under the default policy; devices in the order of their first row.
std::vector<ProblemOnDevice> look_up(TuningDatabase& database, const GemmProblem& problem, const std::string& device);
// Throws Error (no_winner) that names the nearest tuned problems.
[[noreturn]] void fail_untuned(TuningDatabase& database, const GemmProblem& problem, const std::string& device);

}  // namespace tmm
