// Device time of a plan: launches recorded as a graph over rotated operands, replayed until the median is steady.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/executable_plan.h"
#include "tuner/verification.h"

namespace tmm {

// All times are in microseconds of device time.
struct TimingOptions {
    // A sample lasts at least this long, by holding as many launches as that takes.
    double sample_us = 300;
    int samples = 9;
    // Samples end early once they have used this much, but not before min_samples of them.
    double total_us = 30000;
    int min_samples = 3;
    // If the first sample is slower than this per launch, no other is taken; 0 stands for never.
    double abandon_above_us = 0;
    // Device time spent before the first sample, so that clocks have settled.
    double warm_up_us = 0;

    friend bool operator==(const TimingOptions&, const TimingOptions&) = default;
};

struct Timing {
    double median_us = 0;
    double low_us = 0;
    double high_us = 0;
    int samples = 0;
    int sm_clock_mhz = 0;
    bool throttled = false;
};

// The value below which the share q (0 to 1) of the values lies, by linear interpolation; 0 where there are no values.
double quantile(std::vector<double> values, double q);

// A timer holds one plan, recorded and ready to be sampled. The operands belong to the verifier, which must outlive it.
class PlanTimer {
public:
    // workspace_bytes: at least the plan's own; timers that exist at the same time must be given the same value.
    PlanTimer(Device& device, const ExecutablePlan& plan, Verifier& verifier, double sample_us, std::int64_t workspace_bytes);
    // Microseconds per launch.
    double sample() { return replay_->run_timed() / launches_; }
    int launches() const { return launches_; }
    // The first estimate in microseconds per launch.
    double estimate_us() const { return estimate_us_; }

private:
    int launches_ = 1;
    double estimate_us_ = 0;
    std::unique_ptr<Replay> replay_;
};

Timing time_plan(Device& device, const ExecutablePlan& plan, Verifier& verifier, const TimingOptions& options);

}  // namespace tmm
