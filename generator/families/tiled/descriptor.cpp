// Square tiles in shared memory, one element a thread: the kernel of the tutorials.
#include "tmm/families/tiled/rules.h"

#include <cmath>

#include "generator/choice/cost_model_host.h"
#include "generator/families/candidate_choices.h"
#include "generator/families/descriptors.h"
#include "generator/families/naive_and_tiled_estimate.h"
#include "generator/families/neutral.h"
#include "generator/plan/kernel_arguments.h"

namespace tmm {
namespace {

using C = KernelConfig;

std::vector<Product::Candidate> candidates(const GemmProblem& p, const DeviceInfo&) {
    std::vector<Product::Candidate> candidates;
    if (one_type_violation(signature_of(p))) return candidates;
    for (const int width : {32, 16, 8, 4}) {
        for (const int mode : {boundary::exact, boundary::guarded}) {
            if (mode == boundary::guarded && divides(Extent{.rows = p.m, .columns = p.n}, p.k, width, width, width)) continue;
            candidates.push_back({{.family = family::tiled, .block_m = width, .block_n = width, .block_k = width, .boundary = mode}});
        }
    }
    return candidates;
}

PredictedTime estimate(const GemmProblem& p, const KernelConfig& c, const DeviceInfo& device) {
    return naive_and_tiled_estimate(
        p, c, device,
        {.share_of_fma_rate = c.block_m >= 16 ? 0.12 : 0.05, .waits = 0.8 / 0.68 * std::ceil(static_cast<double>(p.k) / c.block_k)});
}
double host_estimate(const GemmProblem& p, const KernelConfig& c) {
    return host_time_of_tiles(p, c, 2 * (host_cost::kSwitch + host_cost::kCopy), host_cost::kFmaFromTile);
}
PhaseLoads phase_loads(const KernelConfig& c) {
    return {.elements = 2, .by_copy_engine = false, .flop_per_load = flop_per_load_of_tile(c)};
}

constexpr Product kProduct{
    .multiplies_by_fma = true,
    .serves_any_size = false,
    .blocks = tiled::blocks,
    .why_not = neutral::serves_all,
    .accumulators = neutral::unbounded,
    .is_brought_by_tma = neutral::never,
    .shares_k = false,
    .longest_chain = neutral::chain_of_k,
    .candidates = candidates,
    .defaults = neutral::no_defaults,
    .default_variants = neutral::no_default_variants,
    .uses_tensor_cores = neutral::never_on,
    .is_at_its_best = neutral::never_on,
    .is_unrivalled = neutral::never_with,
    .is_hard_to_compare = neutral::never_for,
    .doubt_of_ways = 0.0,
    .variants = neutral::no_variants,
    .adapt = neutral::as_tuned,
    .estimate = estimate,
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

constexpr Family kTiled{
    .number = family::tiled,
    .kernel = {.arguments_type = neutral::plain_arguments,
               .moves_single_elements_of_ab = true,
               .moves_single_elements_of_c = true,
               .knows_tf32 = false,
               .preamble = neutral::no_preamble},
    .rules = {.fields = fields(&C::family, &C::block_m, &C::block_n, &C::block_k, &C::boundary, &C::overlap),
              .violation = tiled::first_violation,
              .threads = tiled::threads,
              .shared_bytes = tiled::shared_bytes,
              .cluster_size = neutral::field_cluster,
              .leaves_room = false},
    .product = &kProduct,
};

}  // namespace tmm
