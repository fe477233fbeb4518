#include "tuner/timing.h"

#include <algorithm>
#include <cmath>

namespace tmm {
namespace {

// A graph longer than this costs more to build than its sample is worth.
constexpr int kMaxLaunches = 512;
// Kernels slower than this do not feel whether a few megabytes of operands were still cached.
constexpr double kCacheMattersBelow_us = 1000;

}  // namespace

double quantile(std::vector<double> values, double q) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const double position = q * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const auto above = std::min(below + 1, values.size() - 1);
    return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
}

PlanTimer::PlanTimer(Device& device, const ExecutablePlan& plan, Verifier& verifier, double sample_us, std::int64_t workspace_bytes) {
    // The calls are made before anything is recorded: the verifier may have to allocate the workspace, which no capture allows.
    std::vector<GemmCall> calls;
    for (int set = 0; set < verifier.rotation_sets(); ++set) calls.push_back(verifier.timing_call(set, workspace_bytes));
    const auto record = [&](int launches) {
        return device.record([&](Stream stream) {
            for (int i = 0; i < launches; ++i) plan.run(calls[static_cast<std::size_t>(i) % calls.size()], stream);
        });
    };
    auto single = record(1);
    // The emulated device has no caches or clocks to warm, and its runs are long.
    if (!device.info().emulated) single->run_timed();
    estimate_us_ = std::max(single->run_timed(), 0.01);
    launches_ = static_cast<int>(std::clamp(std::ceil(sample_us / estimate_us_), 1.0, static_cast<double>(kMaxLaunches)));
    // A replay uses every operand set; otherwise the next replay would find its operands cached.
    if (estimate_us_ < kCacheMattersBelow_us && !device.info().emulated) launches_ = std::max(launches_, verifier.rotation_sets());
    replay_ = launches_ == 1 ? std::move(single) : record(launches_);
}

Timing time_plan(Device& device, const ExecutablePlan& plan, Verifier& verifier, const TimingOptions& options) {
    PlanTimer timer(device, plan, verifier, options.sample_us, plan.plan().workspace_bytes);
    const bool hopeless = options.abandon_above_us > 0 && timer.launches() == 1 && timer.estimate_us() > options.abandon_above_us;
    double warmed = timer.estimate_us();
    while (!hopeless && warmed < options.warm_up_us) warmed += timer.sample() * timer.launches();
    std::vector<double> samples;
    double used = 0;
    while (static_cast<int>(samples.size()) < options.samples) {
        samples.push_back(timer.sample());
        used += samples.back() * timer.launches();
        if (options.abandon_above_us > 0 && samples.front() > options.abandon_above_us) break;
        if (used > options.total_us && static_cast<int>(samples.size()) >= options.min_samples) break;
    }
    const DeviceState state = device.state();
    return Timing{.median_us = quantile(samples, 0.5),
                  .low_us = quantile(samples, 0.1),
                  .high_us = quantile(samples, 0.9),
                  .samples = static_cast<int>(samples.size()),
                  .sm_clock_mhz = state.sm_clock_mhz,
                  .throttled = state.throttled};
}

}  // namespace tmm
