#include "generator/cost_model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/cost_model_gemv.h"
#include "generator/cost_model_host.h"
#include "generator/cost_model_mma.h"
#include "generator/cost_model_simt.h"
#include "generator/cost_model_skinny.h"
#include "generator/cost_model_wgmma.h"
#include "generator/launch_plan.h"
#include "generator/occupancy.h"
#include "tmm/rules.h"

namespace tmm {
namespace {

// Split-K's partial results are floats.
constexpr double kPartialBytes = 4;
constexpr double kMemoryBytesPerMicrosecond = 4.0e6;
// Between two kernels that do not overlap, beyond what is between others; measured on an H200, as is what crowding costs.
constexpr double kGap = 0.6;
constexpr double kPartsInTheWay = 4e6;
// Of each block on an SM that adds up parts of K, beyond those few that the families' models count: it begins, and has little to do.
// Without it, 11008x32x4096 in parts took some 8 us longer than predicted, with 83 such blocks on an SM, and 4096x8x4096 3 to 5, with 31.
constexpr double kBlockOfSum = 0.1;
constexpr double kBlocksCounted = 8;

double bytes_of(ElementType type) {
    return size_of(type);
}

// Of the families that are there to be read, naive and tiled.
double teaching_estimate(const GemmProblem& p, const KernelConfig& c, const DeviceInfo& device) {
    constexpr int few_registers = 48;
    const double sms = std::max(1, device.sm_count);
    const auto [m, n, k, batch] =
        std::array{static_cast<double>(p.m), static_cast<double>(p.n), static_cast<double>(p.k), static_cast<double>(p.batch)};
    const auto all = static_cast<double>(blocks(c, p.m, p.n, p.batch));
    const double resident =
        std::max(c.min_blocks, blocks_per_sm(device, threads(c), few_registers, shared_bytes(c, main_signature(p, c))).blocks);
    // Below 8 warps an SM's four schedulers do not find enough independent work.
    const double hiding = std::clamp(std::min(resident, all / sms) * threads(c) / 32.0 / 8.0, 0.05, 1.0);
    // Of the SM's FMA rate, and of a phase, or a step of k, whose loads nothing hides.
    const double share = c.family == family::tiled ? (c.block_m >= 16 ? 0.12 : 0.05) : 0.04;
    const double waiting = c.family == family::tiled ? std::ceil(k / c.block_k) * 0.8 : k * 0.04;
    const double arithmetic = static_cast<double>(c.block_m) * c.block_n * k * std::ceil(all / sms) / (128.0 * 1.7e3 * share * hiding);
    const double bytes = batch * ((m * bytes_of(p.type_a) + n * bytes_of(p.type_b)) * k + m * n * bytes_of(p.type_c));
    return 0.8 + std::max({arithmetic, bytes / kMemoryBytesPerMicrosecond, waiting});
}

}  // namespace

double workspace_estimate(const GemmProblem& p, const KernelConfig& c, const DeviceInfo& device) {
    const Extent main = main_extent(p, c);
    const auto [m, k, batch] = std::array{static_cast<double>(main.rows), static_cast<double>(p.k), static_cast<double>(p.batch)};
    const double partials =
        partial_results(c) > 1 ? kPartialBytes * partial_results(c) * m * static_cast<double>(workspace_ld(main.columns)) : 0;
    if (c.planes > 1) return static_cast<double>(planes_workspace_bytes(p, c)) + batch * partials;
    if (c.family == family::wgmma) {
        // Rounded up to the next part's start.
        const auto padded = [members = batch](const pad::Shape& shape, ElementType type) {
            return members * static_cast<double>(shape.rows) * static_cast<double>(pad::padded_ld(shape.columns, type)) * bytes_of(type) +
                   256;
        };
        return batch * partials + (pad::pads_a(c) ? padded(pad::copy_of_a(p), p.type_a) : 0) +
               (pad::pads_b(c) ? padded(pad::copy_of_b(p), p.type_b) : 0);
    }
    const double parts = c.stream_k != 0 ? static_cast<double>(stream_workspace_bytes(phase_line_on(p, c, device), c)) : 0;
    const auto packed = [&](std::int64_t outer) {
        return bytes_of(p.type_a) * static_cast<double>(packed_ld(outer)) * static_cast<double>(pack::packed_depth(p.k));
    };
    const double counters = pack::packs_beside(c) ? static_cast<double>(pack::kCounterBytes) : 0;
    return counters + parts + static_cast<double>(strip_sums(p, c, 0).end) +
           batch * (partials + (pack::packs_a(c) ? packed(main.rows) : 0) + (pack::packs_b(c) ? packed(main.columns) : 0)) +
           bytes_of(p.type_a) * static_cast<double>(pack::elements_past_the_last(c, main.rows, main.columns));
}

double CostModel::estimate(const KernelConfig& c) const {
    if (device_.emulated) return host_estimate(problem_, c, device_);
    const double time = alone(c);
    if (c.overlap == 0) return time + (device_.overlaps_kernels() ? kGap : 0);
    return time + crowding(c, [&] { return time; });
}

KernelConfig CostModel::with_better_overlap(KernelConfig c) const {
    c.overlap = device_.overlaps_kernels() && crowding(c, [&] { return alone(c); }) < kGap ? 1 : 0;
    return c;
}

// Blocks that come early take the SMs that are free first: fewer than SMs, they are not spread over all parts of the chip any more, and
// reading memory takes longer.
template <class Time>
double CostModel::crowding(const KernelConfig& c, Time&& time) const {
    constexpr double part_of_memory_time = 0.6;
    if (c.family == family::simt) {
        const double part = part_of_simt_crowded(c);
        return part > 0 ? part * time() : 0;
    }
    if (c.family != family::wgmma) return 0;
    // The first kernel splits the operands, by blocks that find less room.
    if (c.planes > 1) return 0.5 * kGap;
    const auto [m, n, k, batch] = std::array{static_cast<double>(problem_.m), static_cast<double>(problem_.n),
                                             static_cast<double>(problem_.k), static_cast<double>(problem_.batch)};
    const double memory = batch * (m + n) * k * bytes_of(problem_.type_a) / kMemoryBytesPerMicrosecond;
    const auto all = static_cast<double>(blocks(c, problem_.m, problem_.n, problem_.batch));
    const double sms = std::max(1, device_.sm_count);
    // Where parts are summed, by many blocks, the next product's come to the SMs in the order in which those end.
    const double parts = partial_results(c) > 1 ? batch * partial_results(c) * m * n * kPartialBytes : 0;
    return part_of_memory_time * memory * (1 - all / (std::ceil(all / sms) * sms)) + kGap * parts / kPartsInTheWay;
}

// SMs that are free first take as many blocks as they have room for, and others none. Where blocks leave room they then stand unevenly, and
// so do clusters where the last wave is in part. Of 6,700 pairs of simt's configs, alike but for overlap, the ones that overlap took 1.05
// times as long with such clusters. With such blocks, in plans of several kernels, they took 1.01 times as long, but up to 1.4 times; all
// others 0.98 times.
double CostModel::part_of_simt_crowded(const KernelConfig& c) const {
    constexpr double of_clusters = 0.05;
    constexpr double of_blocks = 0.02;
    constexpr double nearly_empty = 0.15;
    constexpr double nearly_full = 0.85;
    const Extent main = main_extent(problem_, c);
    const double waves = static_cast<double>(blocks(c, main.rows, main.columns, problem_.batch)) /
                         (static_cast<double>(std::max(1, device_.sm_count)) * std::max(1, c.min_blocks));
    const double last = waves - std::floor(waves);
    if (c.cluster > 1) return waves > 1 && last > nearly_empty && last < nearly_full ? of_clusters : 0;
    const bool several_kernels = c.pack_ab != 0 || c.trim != 0;
    return several_kernels && std::ceil(waves * c.min_blocks) < c.min_blocks ? of_blocks : 0;
}

double CostModel::alone(const KernelConfig& c) const {
    return of_family(c) + beginning_of_sums(c);
}

// They are as many as C has rows, however few its columns.
double CostModel::beginning_of_sums(const KernelConfig& c) const {
    const double of_sm = static_cast<double>(blocks_that_add_parts(problem_, c)) / std::max(1, device_.sm_count);
    return kBlockOfSum * std::max(0.0, of_sm - kBlocksCounted);
}

double CostModel::of_family(const KernelConfig& c) const {
    switch (c.family) {
        case family::wgmma: return wgmma_estimate(problem_, c, device_);
        case family::mma: return mma_estimate(problem_, c, device_);
        case family::simt: return simt_estimate(problem_, c, device_);
        case family::gemv: return gemv_estimate(problem_, c, device_);
        case family::skinny: return skinny_estimate(problem_, c, device_);
    }
    return teaching_estimate(problem_, c, device_);
}

}  // namespace tmm
