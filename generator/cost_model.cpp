#include "generator/cost_model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/cost_model_gemv.h"
#include "generator/cost_model_simt.h"
#include "generator/cost_model_wgmma.h"
#include "generator/launch_plan.h"
#include "generator/occupancy.h"
#include "generator/search_space_mma.h"
#include "tmm/rules.h"

namespace tmm {
namespace {

// Split-K's partial results are floats.
constexpr double kPartialBytes = 4;
constexpr double kMemoryBytesPerMicrosecond = 4.0e6;
// By an SM.
constexpr double kStoredBytesPerMicrosecond = 3.8e4;
// Between two kernels that do not overlap, beyond what is between others; measured on an H200, as is what crowding costs.
constexpr double kGap = 0.6;
constexpr double kPartsInTheWay = 4e6;

double bytes_of(ElementType type) {
    return size_of(type);
}

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

// Elements of C that a block computes, those past the edge included.
double covered(const KernelConfig& c) {
    return static_cast<double>(c.block_m) * c.block_n;
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
    return parts + batch * (partials + (pack::packs_a(c) ? packed(main.rows) : 0) + (pack::packs_b(c) ? packed(main.columns) : 0)) +
           bytes_of(p.type_a) * static_cast<double>(pack::elements_past_the_last(c, main.rows, main.columns));
}

double CostModel::estimate(const KernelConfig& c) const {
    return alone(c) + (c.overlap != 0 ? crowding(c) : device_.overlaps_kernels() ? kGap : 0);
}

KernelConfig CostModel::with_better_overlap(KernelConfig c) const {
    c.overlap = device_.overlaps_kernels() && crowding(c) < kGap ? 1 : 0;
    return c;
}

// Blocks that come early take the SMs that are free first: fewer than SMs, they are not spread over all parts of the chip any more, and
// reading memory takes longer.
double CostModel::crowding(const KernelConfig& c) const {
    constexpr double part_of_memory_time = 0.6;
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

double CostModel::alone(const KernelConfig& c) const {
    if (c.family == family::wgmma) return wgmma_estimate(problem_, c, device_);
    if (c.family == family::simt) return simt_estimate(problem_, c, device_);
    if (c.family == family::gemv) return gemv_estimate(problem_, c, device_);
    const double sms = std::max(1, device_.sm_count);
    const auto [m, n] = std::array{static_cast<double>(problem_.m), static_cast<double>(problem_.n)};
    const double blocks_total = static_cast<double>(blocks(c, problem_.m, problem_.n, problem_.batch));
    const double resident = resident_blocks(c);
    const double warps_busy = std::min(resident, blocks_total / sms) * threads(c) / 32.0;
    // Below 8 warps an SM's four schedulers do not find enough independent work; the products of one warp fill a tensor core.
    const double latency_hiding = std::min(1.0, std::max(0.05, warps_busy / (c.family == family::mma ? 4.0 : 8.0)));
    const double waves = std::ceil(blocks_total / (sms * resident));
    const double wave_efficiency = blocks_total / (waves * sms * resident);
    const double fill =
        blocks_total >= sms * resident ? wave_efficiency : std::min(1.0, blocks_total / sms / std::ceil(blocks_total / sms));

    const double fma_per_block = covered(c) * static_cast<double>(ceil_divide(problem_.k, c.split_k));
    const double fma_rate = 128.0 * 1.7e3 * fma_share(c);  // per SM and microsecond
    const double blocks_per_sm = std::ceil(blocks_total / sms);
    const double arithmetic = fma_per_block * blocks_per_sm / (fma_rate * latency_hiding);

    const double bytes = static_cast<double>(problem_.batch) *
                         ((m * bytes_of(problem_.type_a) + n * bytes_of(problem_.type_b)) * static_cast<double>(problem_.k) +
                          m * n * (bytes_of(problem_.type_c) + (partial_results(c) > 1 ? 2.0 * kPartialBytes * partial_results(c) : 0)));
    const double memory = bytes / (kMemoryBytesPerMicrosecond * std::max(0.1, fill));
    const double second_kernel = partial_results(c) > 1 ? 2.0 : 0.0;
    // Of tensor-core configs that memory bounds alike, those that compute less beyond the edges come first; and the parts of a
    // split are read when the products are done.
    const double parts = partial_results(c) > 1 ? kPartialBytes * partial_results(c) * m * n * static_cast<double>(problem_.batch) : 0;
    // Nor is there another product while the blocks of a wave store theirs.
    const double stored = waves * std::min(resident, blocks_per_sm) * covered(c) * bytes_of(problem_.type_c);
    const double beside =
        c.family == family::mma ? 0.1 * arithmetic + parts / kMemoryBytesPerMicrosecond + stored / kStoredBytesPerMicrosecond : 0.0;
    const double launch = c.family == family::mma ? 1.5 : 0.8;
    return std::max({arithmetic, memory, latency(c)}) + beside + second_kernel + launch;
}

// A block walks K in phases, and none is shorter than the way to memory, shared by the loads that are under way together.
double CostModel::latency(const KernelConfig& c) const {
    const double k = static_cast<double>(ceil_divide(problem_.k, c.split_k));
    switch (c.family) {
        case family::mma: return std::ceil(k / c.block_k) * (0.04 + 0.6 / std::max(1, c.stages - c.async_copy));
        case family::tiled: return std::ceil(k / c.block_k) * 0.8;
    }
    return k * 0.04;
}

// The part of the SM's FMA rate that the kernel can use.
double CostModel::fma_share(const KernelConfig& c) const {
    switch (c.family) {
        case family::tiled: return c.block_m >= 16 ? 0.12 : 0.05;
        case family::mma: return mma_rate(device_) / 128 * mma_efficiency(c, signature_of(problem_), device_);
    }
    return 0.04;
}

double CostModel::resident_blocks(const KernelConfig& c) const {
    constexpr int few_registers = 48;
    const int registers = c.family == family::mma ? mma_registers(c, signature_of(problem_)) : few_registers;
    return std::max(c.min_blocks, blocks_per_sm(device_, threads(c), registers, shared_bytes(c, main_signature(problem_, c))).blocks);
}

}  // namespace tmm
