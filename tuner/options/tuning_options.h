// What a tuning run is asked for, and how long it and each of its problems may go on measuring.
#pragma once

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <limits>
#include <vector>

#include "base/processes/elapsed.h"
#include "generator/choice/search_space.h"
#include "tuner/options/shard.h"

namespace tmm {

struct TuningOptions {
    // Devices with one worker process each; kHostDevice is the emulation. GPUs of the same model share the shapes between them.
    std::vector<int> ordinals;
    std::filesystem::path database;
    Effort effort = Effort::normal;
    // Seconds of the whole run since `start`; with 0 it takes as long as it needs.
    double budget_seconds = 0;
    SteadyClock::time_point start = SteadyClock::now();
    // The part of the problems that this run is for.
    Shard shard = {};
    // The run measures and decides anew whatever the database has results for; those stay in it.
    bool remeasure = false;
    // Least deadline of a candidate in seconds; 0: the device's usual one.
    double deadline_floor = 0;
};

// What one problem may take of a run.
struct Turn {
    SteadyClock::time_point start = SteadyClock::now();
    // Seconds that the problem is given; 0 stands for all that it needs.
    double share_seconds = 0;
    // Seconds after which whatever the problem waits for is given up.
    double most_seconds = std::numeric_limits<double>::infinity();
    // Candidates that the problem is given, for replays of searches: a budget gives seconds alone. 0 stands for all that it has.
    int most_candidates = 0;
};

// Limits how long a run may go on measuring. It is thread-safe.
class Budget {
public:
    // seconds: those of the whole run from its start; 0 stands for no end.
    Budget(double seconds, SteadyClock::time_point start) : seconds_(seconds), start_(start) {}

    bool is_limited() const { return seconds_ > 0; }
    // Keeps these seconds for the time after the last measurement.
    void keep(double seconds) { kept_ = std::min(seconds, seconds_ / 2); }
    // Seconds until measuring ends.
    double left() const { return is_limited() ? seconds_ - kept_ - seconds_since(start_) : std::numeric_limits<double>::infinity(); }
    bool is_over() const { return left() <= 0; }
    // The turn of one of so many problems that come one after another. A measurement that is under way at its end gets `moment` seconds
    // more: the shares of the next problems then shrink alike, and the time that it has taken is not lost.
    Turn turn(double rounds, double moment) const {
        if (!is_limited()) return {};
        const double share = std::max(left() / std::max(rounds, 1.0), 1e-3);
        return {.share_seconds = share, .most_seconds = 1.5 * share + moment};
    }

private:
    const double seconds_;
    const SteadyClock::time_point start_;
    std::atomic<double> kept_ = 0;
};

}  // namespace tmm
