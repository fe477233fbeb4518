// How long a run may go on measuring, and what each problem gets of that.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>

#include "tuner/elapsed.h"

namespace tmm {

// What one problem may take of a run.
struct Turn {
    SteadyClock::time_point start = SteadyClock::now();
    // 0: all that it needs.
    double share_seconds = 0;
    // When whatever it waits for is given up.
    double most_seconds = std::numeric_limits<double>::infinity();
};

// Thread-safe.
class Budget {
public:
    // Seconds of the whole run from its start; 0: no end.
    Budget(double seconds, SteadyClock::time_point start) : seconds_(seconds), start_(start) {}

    bool is_limited() const { return seconds_ > 0; }
    // What is kept for the time after the last measurement.
    void keep(double seconds) { kept_ = std::min(seconds, seconds_ / 2); }
    // Until measuring ends.
    double left() const { return is_limited() ? seconds_ - kept_ - seconds_since(start_) : std::numeric_limits<double>::infinity(); }
    bool is_over() const { return left() <= 0; }
    // The turn of one of so many that come one after another. A measurement that is under way at its end gets a moment more: the next
    // ones' shares then shrink alike, and what it has taken is not lost.
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
