#include "generator/families/naive_and_tiled_estimate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/families/family.h"
#include "generator/machine/occupancy.h"
#include "tmm/number/arithmetic.h"

namespace tmm {

PredictedTime naive_and_tiled_estimate(const Schedule& schedule, const DeviceInfo& device, const TeachingKernel& kernel) {
    const GemmProblem& p = schedule.product;
    const KernelConfig& c = schedule.config;
    constexpr int few_registers = 48;
    constexpr double launches = 0.8 / 0.7;
    constexpr double share_of_clock = 1.7 / 1.95;
    constexpr double share_of_memory = 4.0 / 4.6;
    const MachineProfile& machine = device.profile;
    const double sms = std::max(1, device.sm_count);
    const auto all = static_cast<double>(schedule.blocks);
    const double resident =
        std::max(c.min_blocks, blocks_per_sm(device, threads_of(c), few_registers, shared_bytes_of(c, schedule.signature)).blocks);
    // Below 8 warps an SM's four schedulers do not find enough independent work.
    const double hiding = std::clamp(std::min(resident, all / sms) * threads_of(c) / 32.0 / 8.0, 0.05, 1.0);
    const auto [m, n, k] = std::array{static_cast<double>(p.m), static_cast<double>(p.n), static_cast<double>(p.k)};
    const double arithmetic =
        static_cast<double>(c.block_m) * c.block_n * k * std::ceil(all / sms) /
        (fmas_per_clock(device, sum_type(p)) * share_of_clock * machine.fma_clock * kernel.share_of_fma_rate * hiding);
    const double bytes = static_cast<double>(p.batch) * ((m * size_of(p.type_a) + n * size_of(p.type_b)) * k + m * n * size_of(p.type_c));
    return PredictedTime{.latency = launches * machine.launch} + longest_of({{.arithmetic = arithmetic},
                                                                             {.memory = bytes / (share_of_memory * machine.memory_bytes)},
                                                                             {.latency = kernel.waits * machine.memory_latency}});
}

}  // namespace tmm
