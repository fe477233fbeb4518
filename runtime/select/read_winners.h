// What the runtime reads of a tuning database: the winners once, and a problem's candidates where its winner may not be used.
#pragma once

#include <chrono>
#include <filesystem>

#include "db/store/time_limit.h"
#include "generator/machine/device_info.h"
#include "runtime/select/selection.h"

namespace tmm {

// A program that multiplies waits no longer for its database: a tuner holds the lock for one small transaction, and a file may have no end.
inline Patience patience_of_programs() {
    return {.lock = std::chrono::seconds(2), .total = std::chrono::seconds(2)};
}

// The winners for the device, which predicts by the profile that was measured of it where the database has one; those that ship with tmm,
// and one log line, where the database can't be read.
Winners read_winners(const std::filesystem::path& database, const DeviceInfo& opened, const Patience& patience = patience_of_programs());

}  // namespace tmm
