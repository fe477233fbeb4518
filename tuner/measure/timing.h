// Device time: the clock settled, launches recorded as a graph over rotated operands and replayed until the median is steady.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/plan/executable_plan.h"
#include "tuner/measure/other_kernel.h"
#include "tuner/measure/verification.h"

namespace tmm {

// Takes one sample: runs the side once and gives its time in microseconds per launch.
using Sampler = std::function<double()>;

struct SettleOptions {
    double least_seconds = 1;
    double most_seconds = 4;
};

// Runs every sampler in turn for at least least_seconds, and on until the first one's times stop falling (its last window's
// median is no longer 0.5% under the window before) or most_seconds are over.
void settle(const std::vector<Sampler>& samplers, const SettleOptions& options);

// A sequence of launches recorded for replay, as everything is timed.

struct Recorded {
    std::unique_ptr<Replay> replay;
    int launches = 1;
    // Microseconds per launch.
    double sample() const { return replay->run_timed() / launches; }
};

// The fastest of a few samples.
double screening_time(const Recorded& recorded);

// Launches of one sample: whole rounds of the sets, for at least sample_us at launch_us each.
int launches_for(double sample_us, double launch_us, int sets);

Sampler sampler_of(const std::shared_ptr<Recorded>& recorded);

// All times are in microseconds of device time.
struct TimingOptions {
    // A sample lasts at least this long, by holding as many launches as that takes.
    double sample_us = 300;
    int samples = 9;
    // Samples end early once they have used this much, but not before min_samples of them.
    double total_us = 30000;
    int min_samples = 3;
    // Samples end early once their time is surely below or above `bar_us`, the most that a finalist may take (0: there is none), or is
    // known to this part of itself (0: however well it is known).
    double bar_us = 0;
    double precision = 0;
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

// What stands before each launch that is timed, and its own time, which is no part of a launch's.
struct Between {
    // Null where nothing stands between.
    const OtherKernel* kernel = nullptr;
    double us = 0;
};

// A timer holds one plan, recorded and ready to be sampled. The operands belong to the verifier, which must outlive it, as the kernel
// between must.
class PlanTimer {
public:
    // workspace_bytes: at least the plan's own; timers that exist at the same time must be given the same value.
    PlanTimer(Device& device, const ExecutablePlan& plan, Verifier& verifier, const Between& between, double sample_us,
              std::int64_t workspace_bytes);
    // Microseconds per launch.
    double sample() { return without_other(replay_->run_timed() / launches_); }
    int launches() const { return launches_; }
    // The first estimate in microseconds per launch.
    double estimate_us() const { return estimate_us_; }

private:
    double without_other(double microseconds) const;

    double between_us_ = 0;
    int launches_ = 1;
    double estimate_us_ = 0;
    std::unique_ptr<Replay> replay_;
};

// Takes samples, in microseconds a launch, until the options say that they are enough. launches: how many a sample holds. between_us: what
// passes between two of them.
//
// Whether a time is surely below or above the bar is told by Student's t of the samples' logarithms, one-sided at 99%, as in "The Racing
// Algorithm: Model Selection for Lazy Learners" (Maron, Moore, 1997), which compares a model with the best so far by confidence intervals.
std::vector<double> take_samples(const TimingOptions& options, int launches, double between_us, const std::function<double()>& sample);

Timing time_plan(Device& device, const ExecutablePlan& plan, Verifier& verifier, const Between& between, const TimingOptions& options);

}  // namespace tmm
