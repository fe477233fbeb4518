// What the runtime reads of a tuning database: the winners once, and a problem's candidates where its winner may not be used.
#pragma once

#include <filesystem>

#include "generator/machine/device_info.h"
#include "runtime/selection.h"

namespace tmm {

// The winners for the device, which predicts by the profile that was measured of it where the database has one; those that ship with tmm,
// and one log line, where the database can't be read.
Winners read_winners(const std::filesystem::path& database, const DeviceInfo& opened);

}  // namespace tmm
