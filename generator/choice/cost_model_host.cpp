#include "generator/choice/cost_model_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "generator/families/family.h"
#include "generator/plan/launch_plan.h"
#include "generator/problem/matrix_layout.h"
#include "host/portable_math.h"

namespace tmm {
namespace {

// Seconds of one product of a multiplication, by whatever config, and of one of the reference.
constexpr double kSecondsOfProduct = 2e-9;

}  // namespace

using namespace host_cost;

HostWork host_work(const GemmProblem& p, const KernelConfig& c) {
    const Extent main = main_extent(p, c);
    return {.threads = static_cast<double>(blocks_of(c, main.rows, main.columns, p.batch)) * threads_of(c),
            .depth = std::ceil(static_cast<double>(p.k) / c.split_k)};
}

double host_time_of_tiles(const GemmProblem& p, const KernelConfig& c, double phase, double fma) {
    const HostWork work = host_work(p, c);
    const double phases = std::ceil(work.depth / c.block_k);
    const double tile = static_cast<double>(c.block_m) * c.block_n * c.block_k / threads_of(c);
    // What slices and clusters bring each other waits at barriers, too.
    const double waiting = kSwitch * ((c.slice_k > 1 ? 1 + portable::log2(c.slice_k) : 0) + (c.cluster > 1 ? 2 : 0));
    return work.threads * (phases * (phase + tile * fma) + waiting);
}

PredictedTime host_time_of_plan(const GemmProblem& p, const KernelConfig& c) {
    const double elements = elements_of_c(p);
    PredictedTime time = {.arithmetic = product_of(c).host_estimate(p, c),
                          .latency = kLaunch + host_work(p, c).threads * kThread,
                          .results = elements * kStore};
    // Sums of parts, and what is trimmed, are kernels of their own.
    if (partial_results(c) > 1) time.other_kernels += kLaunch + elements * (partial_results(c) * kFmaFromMemory + kStore + kThread);
    if (c.stream_k != 0) time.other_kernels += kLaunch + elements * kStore;
    if (c.trim != 0) {
        const Extent main = main_extent(p, c);
        const double left = elements - static_cast<double>(main.rows) * static_cast<double>(main.columns) * static_cast<double>(p.batch);
        time.other_kernels += 2 * kLaunch + left * static_cast<double>(p.k) * 2 * kFmaFromMemory;
    }
    return time;
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
