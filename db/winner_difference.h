// Lists the problems for which the winners of two databases differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/device_filter.h"
#include "db/tuning_database.h"

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
    int both = 0;
    int different = 0;
    int only_a = 0;
    int only_b = 0;
    // Number of problems with both times, and the geometric mean of A's time over B's.
    int timed = 0;
    double mean_ratio = 0;
};

// Compares the winners that users found, on devices that the filter takes.
WinnerDifference winner_difference(TuningDatabase& a, TuningDatabase& b, const DeviceFilter& devices);

}  // namespace tmm
