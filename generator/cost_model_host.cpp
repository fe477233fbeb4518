#include "generator/cost_model_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "generator/launch_plan.h"
#include "tmm/rules.h"

namespace tmm {
namespace {

// Microseconds.
constexpr double kLaunch = 1;
constexpr double kThread = 0.012;
constexpr double kSwitch = 0.05;
// Of an FMA whose operands are in memory, in shared memory, in registers.
constexpr double kFmaFromMemory = 1.1e-3;
constexpr double kFmaFromTile = 0.9e-3;
constexpr double kFmaFromRegisters = 0.35e-3;
// Of a copy of a vector to shared memory through registers, and asynchronously, which is written down and done later.
constexpr double kCopy = 4e-3;
constexpr double kAsyncCopy = 20e-3;
// Of one number that the lanes of a warp show each other, and of a 16 x 8 x 16 product that a warp does together.
constexpr double kWarpOperation = 0.06;
constexpr double kStore = 5e-3;
// Of one product of a multiplication, by whatever config, and of one of the reference.
constexpr double kSecondsOfProduct = 2e-9;

double ceil_divide(double a, double b) {
    return std::ceil(a / b);
}

// Each phase of a thread, beside what it multiplies.
double phase(const KernelConfig& c, const KernelSignature& s) {
    switch (c.family) {
        case family::tiled: return 2 * (kSwitch + kCopy);
        case family::simt: {
            const auto copies = [&](const simt::TileLayout& layout) {
                const double vectors = static_cast<double>(layout.outer) * layout.depth / layout.vector / simt::threads(c);
                return vectors * (layout.async_copy ? kAsyncCopy : kCopy);
            };
            return kSwitch + copies(simt::layout_a(c, s)) + copies(simt::layout_b(c, s));
        }
        case family::mma: {
            const double vectors = static_cast<double>(c.block_m + c.block_n) * c.block_k / c.vector_width / mma::threads(c);
            const double products = mma::accumulators(c) / 4.0 * c.block_k / 16;
            return kSwitch + vectors * (c.async_copy != 0 ? kAsyncCopy : kCopy) + 1.5 * products * kWarpOperation;
        }
    }
    return 0;
}

}  // namespace

double host_estimate(const GemmProblem& p, const KernelConfig& c, const DeviceInfo&) {
    const KernelSignature s = main_signature(p, c);
    const Extent main = main_extent(p, c);
    const double all = static_cast<double>(blocks(c, main.rows, main.columns, p.batch)) * threads(c);
    const double depth = std::ceil(static_cast<double>(p.k) / c.split_k);
    const double elements = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.batch);
    double time = kLaunch + all * kThread;
    switch (c.family) {
        case family::naive: return time + elements * (static_cast<double>(p.k) * kFmaFromMemory + kStore);
        case family::gemv: {
            const double sums = static_cast<double>(c.block_m) * c.thread_n;
            const double exchanges = gemv::many_along_k(c, s) ? 5 * sums * kWarpOperation : 0;
            const double products = sums * ceil_divide(depth, c.block_k) * gemv::k_step(c);
            time += all * (products * kFmaFromMemory + exchanges + kSwitch);
            break;
        }
        default: {
            const double phases = ceil_divide(depth, c.block_k);
            const double tile = static_cast<double>(c.block_m) * c.block_n * c.block_k / threads(c);
            const double fma = c.family == family::tiled ? kFmaFromTile : c.family == family::mma ? 0 : kFmaFromRegisters;
            time += all * phases * (phase(c, s) + tile * fma);
            // What slices and clusters bring each other waits at barriers, too.
            time += all * kSwitch * ((c.slice_k > 1 ? 1 + std::log2(c.slice_k) : 0) + (c.cluster > 1 ? 2 : 0));
        }
    }
    time += elements * kStore;
    // Sums of parts, packs and what is trimmed are kernels of their own.
    if (partial_results(c) > 1) time += kLaunch + elements * (partial_results(c) * kFmaFromMemory + kStore + kThread);
    const auto packed = [&](bool is, std::int64_t lines) { return is ? kLaunch + static_cast<double>(lines * p.k * p.batch) * kCopy : 0; };
    if (c.family == family::simt) time += packed(pack::packs_a(c), p.m) + packed(pack::packs_b(c), p.n);
    if (c.stream_k != 0) time += kLaunch + elements * kStore;
    if (c.trim != 0) {
        const double left = elements - static_cast<double>(main.rows) * static_cast<double>(main.columns) * static_cast<double>(p.batch);
        time += 2 * kLaunch + left * static_cast<double>(p.k) * 2 * kFmaFromMemory;
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
