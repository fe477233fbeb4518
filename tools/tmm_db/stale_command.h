// tmm-db stale: the winners that tmm-tune would look at again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/command_line/command_line.h"
#include "base/error.h"
#include "db/store/staleness.h"
#include "db/store/tuning_database.h"
#include "tools/tmm_db/device_filter.h"

namespace tmm {

ExitStatus run_stale_command(const CommandLine& line);

// Lists the winners that tmm-tune would look at again, since driver, compiler or kernels are others now.

// A version that winners are compared with, as cuDriverGetVersion spells it.
struct ComparedVersion {
    enum class Source { installed, given, newest_in_database };
    int version = 0;
    Source source = Source::newest_in_database;
};
std::string_view name_of(ComparedVersion::Source source);

struct StaleWinner {
    WinnerRow winner;
    TuningDatabase::Decision decision;
    Staleness staleness;
};

struct StaleWinners {
    // The device's own winners, of which `stale` is a part.
    std::vector<WinnerRow> winners;
    ComparedVersion driver;
    ComparedVersion nvrtc;
    // Whether tmm knows enough of the device to make its kernels; they are not compared otherwise.
    bool compares_kernels = true;
    std::vector<StaleWinner> stale;
};

// The devices with winners of the user's own that were measured, as far as the filter takes them. A driver or NVRTC of version 0 is
// not known: winners are then compared with the newest that any winner of their device was decided on with. The emulated device has
// neither.
std::vector<StaleWinners> stale_winners(TuningDatabase& database, const DeviceFilter& filter, const ComparedVersion& driver,
                                        const ComparedVersion& nvrtc);

}  // namespace tmm
