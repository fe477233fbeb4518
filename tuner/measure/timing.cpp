#include "tuner/measure/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

namespace tmm {
namespace {

constexpr std::size_t kWindow = 5;
constexpr double kStillFalling = 0.995;

bool still_falling(const std::vector<double>& times) {
    if (times.size() < 2 * kWindow) return true;
    const auto end = times.end();
    const auto window = static_cast<std::ptrdiff_t>(kWindow);
    return quantile({end - window, end}, 0.5) < kStillFalling * quantile({end - 2 * window, end - window}, 0.5);
}

constexpr int kMostLaunches = 4096;

// A graph longer than this costs more to build than its sample is worth.
constexpr int kMaxLaunches = 512;
// Kernels slower than this do not feel whether a few megabytes of operands were still cached.
constexpr double kCacheMattersBelow_us = 1000;
// Samples that follow each other directly agree better than those of another minute would: they are taken to differ by this part at least.
constexpr double kLeastDeviation = 0.003;
constexpr double kLeastTime_us = 0.01;

// The value that Student's t with so many degrees of freedom exceeds once in a hundred.
double student_t(std::size_t degrees) {
    constexpr double kValues[] = {31.82, 6.96, 4.54, 3.75, 3.36, 3.14, 3.00, 2.90, 2.82, 2.76, 2.72, 2.68, 2.65, 2.62};
    return kValues[std::min(degrees, std::size(kValues)) - 1];
}

// At least two samples.
bool is_decided(const std::vector<double>& samples, const TimingOptions& options) {
    if (options.bar_us <= 0 && options.precision <= 0) return false;
    const auto count = static_cast<double>(samples.size());
    double mean = 0;
    for (const double sample : samples) mean += std::log(sample) / count;
    double squares = 0;
    for (const double sample : samples) squares += (std::log(sample) - mean) * (std::log(sample) - mean);
    const double deviation = std::max(std::sqrt(squares / (count - 1)), kLeastDeviation);
    const double reach = student_t(samples.size() - 1) * deviation / std::sqrt(count);
    return (options.precision > 0 && reach < options.precision) ||
           (options.bar_us > 0 && std::fabs(mean - std::log(options.bar_us)) > reach);
}

}  // namespace

void settle(const std::vector<Sampler>& samplers, const SettleOptions& options) {
    if (samplers.empty()) return;
    const auto start = std::chrono::steady_clock::now();
    std::vector<double> times;
    while (true) {
        for (std::size_t i = 0; i < samplers.size(); ++i) {
            const double time = samplers[i]();
            if (i == 0) times.push_back(time);
        }
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (seconds >= options.most_seconds || (seconds >= options.least_seconds && !still_falling(times))) return;
    }
}

// The first replay finds cold instruction caches and clocks.
double screening_time(const Recorded& recorded) {
    double fastest = recorded.sample();
    const int more = fastest * recorded.launches < 5000 ? 3 : 1;
    for (int i = 0; i < more; ++i) fastest = std::min(fastest, recorded.sample());
    return fastest;
}

int launches_for(double sample_us, double launch_us, int sets) {
    const double rounds = std::ceil(sample_us / std::max(launch_us * sets, 1e-3));
    const double most = std::max(1.0, std::floor(static_cast<double>(kMostLaunches) / sets));
    return sets * static_cast<int>(std::clamp(rounds, 1.0, most));
}

Sampler sampler_of(const std::shared_ptr<Recorded>& recorded) {
    return [recorded] { return recorded->sample(); };
}

double quantile(std::vector<double> values, double q) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const double position = q * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const auto above = std::min(below + 1, values.size() - 1);
    return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
}

PlanTimer::PlanTimer(Device& device, const ExecutablePlan& plan, Verifier& verifier, const Between& between, double sample_us,
                     std::int64_t workspace_bytes)
    : between_us_(between.us) {
    // The calls are made before anything is recorded: the verifier may have to allocate the workspace, which no capture allows.
    std::vector<GemmCall> calls;
    for (int set = 0; set < verifier.rotation_sets(); ++set) calls.push_back(verifier.timing_call(set, workspace_bytes));
    const auto record = [&](int launches) {
        return device.record([&](Stream stream) {
            for (int i = 0; i < launches; ++i) {
                if (between.kernel) between.kernel->enqueue(stream);
                plan.run(calls[static_cast<std::size_t>(i) % calls.size()], stream);
            }
        });
    };
    auto single = record(1);
    // The emulated device has no caches or clocks to warm, and its runs are long.
    if (!device.info().emulated) single->run_timed();
    const double single_us = single->run_timed();
    estimate_us_ = without_other(single_us);
    launches_ = static_cast<int>(std::clamp(std::ceil(sample_us / std::max(single_us, 0.01)), 1.0, static_cast<double>(kMaxLaunches)));
    // A replay uses every operand set; otherwise the next replay would find its operands cached.
    if (estimate_us_ < kCacheMattersBelow_us && !device.info().emulated) launches_ = std::max(launches_, verifier.rotation_sets());
    replay_ = launches_ == 1 ? std::move(single) : record(launches_);
}

// The other kernel's time is not quite the same each time, and a product may take next to none.
double PlanTimer::without_other(double microseconds) const {
    return std::max(microseconds - between_us_, kLeastTime_us);
}

std::vector<double> take_samples(const TimingOptions& options, int launches, double between_us, const std::function<double()>& sample) {
    std::vector<double> samples;
    double used = 0;
    while (static_cast<int>(samples.size()) < options.samples) {
        samples.push_back(sample());
        used += (samples.back() + between_us) * launches;
        if (options.abandon_above_us > 0 && samples.front() > options.abandon_above_us) break;
        if (used > options.total_us && static_cast<int>(samples.size()) >= options.min_samples) break;
        if (samples.size() >= 2 && is_decided(samples, options)) break;
    }
    return samples;
}

Timing time_plan(Device& device, const ExecutablePlan& plan, Verifier& verifier, const Between& between, const TimingOptions& options) {
    PlanTimer timer(device, plan, verifier, between, options.sample_us, plan.plan().workspace_bytes);
    const bool hopeless = options.abandon_above_us > 0 && timer.launches() == 1 && timer.estimate_us() > options.abandon_above_us;
    double warmed = timer.estimate_us();
    while (!hopeless && warmed < options.warm_up_us) warmed += (timer.sample() + between.us) * timer.launches();
    const std::vector<double> samples = take_samples(options, timer.launches(), between.us, [&] { return timer.sample(); });
    const DeviceState state = device.state();
    return Timing{.median_us = quantile(samples, 0.5),
                  .low_us = quantile(samples, 0.1),
                  .high_us = quantile(samples, 0.9),
                  .samples = static_cast<int>(samples.size()),
                  .sm_clock_mhz = state.sm_clock_mhz,
                  .throttled = state.throttled};
}

}  // namespace tmm
