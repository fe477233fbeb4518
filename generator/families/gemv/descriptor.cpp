// The family for few rows or few columns, bound by memory: threads share the products of each element.
#include "tmm/families/gemv/rules.h"

#include <algorithm>
#include <cmath>

#include "generator/choice/cost_model_host.h"
#include "generator/families/candidate_choices.h"
#include "generator/families/descriptors.h"
#include "generator/families/gemv/gemv.h"
#include "generator/families/neutral.h"
#include "generator/plan/kernel_arguments.h"

namespace tmm {
namespace {

using C = KernelConfig;

// With trim a gemv kernel is a strip of another family's plan.
std::optional<std::string> why_not(const GemmProblem&, const KernelConfig& c, const DeviceInfo&) {
    if (c.trim != 0) return "trim is for tiles of simt and wgmma";
    return std::nullopt;
}
i64 longest_chain(const GemmProblem&, const KernelConfig& c, i64 k) {
    return gemv::longest_chain(c, k);
}

std::vector<Product::Candidate> candidates(const GemmProblem& p, const DeviceInfo& device) {
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

double host_estimate(const GemmProblem& p, const KernelConfig& c) {
    const KernelSignature s = signature_of(p);
    const HostWork work = host_work(p, c);
    const double sums = static_cast<double>(c.block_m) * c.thread_n;
    const double exchanges = gemv::many_along_k(c, s) ? 5 * sums * host_cost::kWarpOperation : 0;
    const double products = sums * std::ceil(work.depth / c.block_k) * gemv::k_step(c);
    return work.threads * (products * host_cost::kFmaFromMemory + exchanges + host_cost::kSwitch);
}
PhaseLoads phase_loads(const KernelConfig& c) {
    return {.elements = static_cast<double>(gemv::k_step(c)) * (c.thread_n + c.block_m),
            .by_copy_engine = false,
            .flop_per_load = flop_per_load_of_tile(c)};
}

constexpr Product kProduct{
    .multiplies_by_fma = true,
    .serves_any_size = false,
    .blocks = gemv::blocks,
    .why_not = why_not,
    .accumulators = neutral::unbounded,
    .is_brought_by_tma = neutral::never,
    .shares_k = true,
    .longest_chain = longest_chain,
    .candidates = candidates,
    .defaults = defaults,
    .default_variants = neutral::no_default_variants,
    .uses_tensor_cores = neutral::never_on,
    .is_at_its_best = neutral::never_on,
    .is_unrivalled = neutral::never_with,
    .is_hard_to_compare = neutral::always_for,
    .doubt_of_ways = 0.0,
    .variants = neutral::no_variants,
    .adapt = with_edges_where_needed,
    .estimate = gemv_estimate,
    .host_estimate = host_estimate,
    .crowding = neutral::no_crowding,
    .phase_loads = phase_loads,
    .signature = neutral::original_layout,
    .applies_gate = neutral::leaves_gates,
    .walks = neutral::never,
    .copies = neutral::no_copies,
    .add_steps_before = neutral::no_steps,
    .add_steps_behind = neutral::no_steps,
    .bind = bind_product,
    .tensor_maps = neutral::no_tensor_maps,
};

}  // namespace

constexpr Family kGemv{
    .number = family::gemv,
    .kernel = {.arguments_type = neutral::plain_arguments,
               .moves_single_elements_of_ab = false,
               .moves_single_elements_of_c = false,
               .knows_tf32 = false,
               .preamble = neutral::no_preamble},
    .rules = {.fields = fields(&C::family, &C::block_m, &C::block_n, &C::block_k, &C::thread_n, &C::vector_width, &C::stages, &C::boundary,
                               &C::split_k, &C::swap_ab, &C::trim, &C::overlap),
              .violation = gemv::first_violation,
              .threads = gemv::threads,
              .shared_bytes = gemv::shared_bytes,
              .cluster_size = neutral::field_cluster,
              .leaves_room = false},
    .product = &kProduct,
};

}  // namespace tmm
