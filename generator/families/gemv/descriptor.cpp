// The family for few rows or few columns, bound by memory: threads share the products of each element.
#include "tmm/families/gemv/rules.h"

#include <algorithm>
#include <cmath>

#include "generator/families/candidate_choices.h"
#include "generator/families/family.h"
#include "generator/families/gemv/gemv.h"
#include "generator/families/host_cost.h"
#include "generator/steps/arguments.h"

namespace tmm {
namespace {

using C = KernelConfig;

// With trim a gemv kernel is a strip of another family's plan.
std::optional<std::string> rejection(const Schedule& s, const DeviceInfo&) {
    if (s.config.trim != 0) return "trim is for tiles of simt and wgmma";
    return std::nullopt;
}
i64 longest_chain(const KernelSignature&, const KernelConfig& c, i64 k) {
    return gemv::longest_chain(c, k);
}

std::vector<Search::Candidate> candidates(const GemmProblem& p, const DeviceInfo& device) {
    const auto configs = gemv_configs(p, device);
    return {configs.begin(), configs.end()};
}

// Before 8.0 ptxas needs more registers for 16-bit elements: kernels with 192 sums and elements read ahead spilled. Where rows are not
// aligned, so that elements come in chunks, kernels with 128 did, and with 16 rows even fewer.
std::vector<KernelConfig> defaults(const GemmProblem& p, const DeviceInfo& device) {
    std::vector<KernelConfig> configs = gemv_configs(p, device);
    if (!is_16_bit(p.type_a) || device.compute_capability() >= 80) return configs;
    const KernelSignature s = signature_of(p);
    const bool in_chunks = std::min(s.align_a, s.align_b) < 16;
    const int most_rows = in_chunks ? 8 : 16;
    const int most_registers = in_chunks ? 112 : 128;
    std::erase_if(configs, [&](const KernelConfig& c) {
        return c.block_m > most_rows || c.block_m * c.thread_n + registers_read_ahead(p, c) > most_registers;
    });
    return configs;
}

double host_estimate(const Schedule& schedule) {
    const KernelConfig& c = schedule.config;
    const HostWork work = host_work(schedule);
    const double sums = static_cast<double>(c.block_m) * c.thread_n;
    const double exchanges = gemv::many_along_k(c, schedule.signature) ? 5 * sums * host_cost::kWarpOperation : 0;
    const double products = sums * std::ceil(work.depth / c.block_k) * gemv::k_step(c);
    return work.threads * (products * host_cost::kFmaFromMemory + exchanges + host_cost::kSwitch);
}
PhaseLoads phase_loads(const KernelConfig& c) {
    return {.elements = static_cast<double>(gemv::k_step(c)) * (c.thread_n + c.block_m),
            .by_copy_engine = false,
            .flop_per_load = flop_per_load_of_tile(c)};
}

Rank rank(const GemmProblem&, const DeviceInfo&) {
    return {.is_hard_to_compare = true};
}

}  // namespace

extern constexpr Family kGemv{
    .number = family::gemv,
    .traits = {.multiplies_by_fma = true, .shares_k = true},
    .rules = {.fields = fields(&C::family, &C::block_m, &C::block_n, &C::block_k, &C::thread_n, &C::vector_width, &C::stages, &C::boundary,
                               &C::split_k, &C::swap_ab, &C::trim, &C::overlap),
              .violation = gemv::first_violation,
              .threads = gemv::threads,
              .shared_bytes = gemv::shared_bytes,
              .blocks = gemv::blocks,
              .rejection = rejection,
              .longest_chain = longest_chain},
    .search = {.candidates = candidates, .defaults = defaults, .rank = rank, .adapt = with_edges_where_needed},
    .model = {.estimate = gemv_estimate, .host_estimate = host_estimate, .phase_loads = phase_loads},
    .launch = {},
};

}  // namespace tmm
