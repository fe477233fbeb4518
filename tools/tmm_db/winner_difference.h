// Lists the problems for which the winners of two databases differ, on the same devices or on two different ones.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/store/tuning_database.h"
#include "tools/tmm_db/device_filter.h"

namespace tmm {

struct WinnerPair {
    // At least one of the two is set.
    std::optional<WinnerRow> a;
    std::optional<WinnerRow> b;

    const WinnerRow& either() const { return a ? *a : *b; }
    bool same_config() const { return a && b && a->config == b->config; }
    // A's time over B's; 0 where one is unknown.
    double ratio() const;
};

struct WinnerDifference {
    // The pairs in A's order, then those that only B has.
    std::vector<WinnerPair> pairs;
    // A's device and B's, where two different ones are compared.
    std::optional<std::pair<DeviceModel, DeviceModel>> across;
    int both = 0;
    int different = 0;
    int only_a = 0;
    int only_b = 0;
    // Number of problems with both times, and the geometric mean of A's time over B's.
    int timed = 0;
    double mean_ratio = 0;
};

// Compares the winners that users found in A on the devices that of_a takes, and in B on those that of_b takes. Where each side has winners
// of one device alone, and these are different ones, each problem's winner on the one is compared with that on the other. Throws Error
// (usage) where across is set and a side has winners of several devices.
WinnerDifference winner_difference(TuningDatabase& a, TuningDatabase& b, const DeviceFilter& of_a, const DeviceFilter& of_b,
                                   bool across = false);

}  // namespace tmm
