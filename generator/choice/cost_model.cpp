#include "generator/choice/cost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "generator/families/family.h"
#include "generator/families/host_cost.h"
#include "generator/problem/matrix_layout.h"
#include "generator/steps/steps.h"

namespace tmm {
namespace {

// What each block on an SM that adds up parts of K takes, beyond those few that the families' models count: it begins, and has little to
// do. Without it, 11008x32x4096 in parts took some 8 us longer than predicted, with 83 such blocks on an SM, and 4096x8x4096 3 to 5,
// with 31.
constexpr double kClocksOfSum = 198;
constexpr double kBlocksCounted = 8;

// What an epilogue adds to an SM's time for each element of C: 0.16 to 0.3 clocks on an H100 in the median of 20 shapes in BF16, by the
// epilogue, and 0.4 to 0.55 of 10 in FP32 (bench/results/epilogues-h100.csv). The least of these counts, so that a choice by prediction is
// a sure one.
constexpr double kClocksOfElement = 0.16;

// Seconds of one product of a multiplication on the emulated device, by whatever config, and of one of the reference.
constexpr double kSecondsOfProduct = 2e-9;

// On a core of some 3 GHz. What counts there is how often threads are switched, at barriers and warp-wide operations, and not what a GPU
// would be short of: a thread that waits for no other is a plain call.
PredictedTime host_time_of_plan(const Schedule& s) {
    using namespace host_cost;
    const GemmProblem& p = s.product;
    const KernelConfig& c = s.config;
    const double elements = elements_of_c(p);
    const auto host_estimate = family_of(c).model.host_estimate;
    PredictedTime time = {.arithmetic = host_estimate ? host_estimate(s) : 0,
                          .latency = kLaunch + host_work(s).threads * kThread,
                          .results = elements * kStore};
    // Sums of parts, and what is trimmed, are kernels of their own.
    if (s.partial_results > 1) time.other_kernels += kLaunch + elements * (s.partial_results * kFmaFromMemory + kStore + kThread);
    if (c.stream_k != 0) time.other_kernels += kLaunch + elements * kStore;
    if (c.trim != 0) {
        const double left =
            elements - static_cast<double>(s.main.rows) * static_cast<double>(s.main.columns) * static_cast<double>(p.batch);
        time.other_kernels += 2 * kLaunch + left * static_cast<double>(p.k) * 2 * kFmaFromMemory;
    }
    return time;
}

// What the families' models leave out is that many blocks begin to add up parts of K: as many as C has rows, however few its columns are.
double beginning_of_sums(const Schedule& s, const DeviceInfo& device) {
    const double of_sm = static_cast<double>(blocks_that_add_parts(s)) / std::max(1, device.sm_count);
    return kClocksOfSum / device.profile.clock * std::max(0.0, of_sm - kBlocksCounted);
}

// The product's time without what stands between it and the kernel before.
PredictedTime alone(const Schedule& s, const DeviceInfo& device) {
    PredictedTime time = family_of(s.config).model.estimate(s, device);
    time.other_kernels += beginning_of_sums(s, device);
    return time;
}

// The plan's time, given its product's alone. A kernel that overlaps the one before is in its way; another waits for it to end.
PredictedTime with_kernel_before(PredictedTime alone, const Schedule& s, const DeviceInfo& device) {
    PredictedTime time = alone;
    if (s.config.overlap != 0) {
        const Crowding crowding = crowding_of(s, device);
        time.other_kernels += crowding.share * time.total() + crowding.microseconds;
    } else if (device.overlaps_kernels()) {
        time.other_kernels += device.profile.kernel_gap;
    }
    time.other_kernels += microseconds_of_finish(s, device) + microseconds_of_mirror(s, device);
    return time;
}

}  // namespace

PredictedTime predict(const Schedule& s, const DeviceInfo& device) {
    if (!device.emulated) return with_kernel_before(alone(s, device), s, device);
    PredictedTime time = host_time_of_plan(s);
    time.other_kernels += microseconds_of_finish(s, device) + microseconds_of_mirror(s, device);
    return time;
}

PredictedConfig with_better_overlap(Schedule s, const DeviceInfo& device) {
    s.config.overlap = 0;
    if (!device.overlaps_kernels()) return {s.config, predict(s, device)};
    const PredictedTime time = alone(s, device);
    const Crowding crowding = crowding_of(s, device);
    if (crowding.share * time.total() + crowding.microseconds < device.profile.kernel_gap) s.config.overlap = 1;
    return {s.config, with_kernel_before(time, s, device)};
}

double CostModel::least_of_epilogue() const {
    if (problem_.epilogue == Epilogue::none) return 0;
    return device_.profile.memory_latency +
           kClocksOfElement / device_.profile.clock * elements_of_c(problem_) / std::max(1, device_.sm_count);
}

std::optional<std::string> why_too_large(const GemmProblem& p, const DeviceInfo& device, double multiplications) {
    constexpr double most_seconds = 60;
    if (!device.emulated) return std::nullopt;
    const double products = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) * static_cast<double>(p.batch);
    const double seconds = multiplications * products * kSecondsOfProduct;
    if (seconds <= most_seconds) return std::nullopt;
    return fmt::format(
        "it is too large for the emulated device, which would take {:.0f} minutes for it; use a GPU, or a shape of at most {:.0e} products",
        std::ceil(seconds / 60), most_seconds / multiplications / kSecondsOfProduct);
}

}  // namespace tmm
