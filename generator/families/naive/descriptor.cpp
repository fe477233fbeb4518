// One thread computes one element, straight from global memory: a kernel to be read and to be compared with, which always works.
#include "tmm/families/naive/rules.h"

#include "generator/choice/cost_model_host.h"
#include "generator/families/descriptors.h"
#include "generator/families/naive/descriptor.h"
#include "generator/families/naive_and_tiled_estimate.h"
#include "generator/families/neutral.h"
#include "generator/plan/kernel_arguments.h"
#include "generator/problem/matrix_layout.h"

namespace tmm {
namespace {

using C = KernelConfig;

constexpr KernelConfig kPlainest{.family = family::naive, .block_m = 8, .block_n = 32};

std::vector<Product::Candidate> candidates(const GemmProblem&, const DeviceInfo&) {
    return {{kPlainest}};
}
// Tiny products take the time of a launch, whatever is done in them.
std::vector<KernelConfig> defaults(const GemmProblem&, const DeviceInfo&) {
    return {kPlainest};
}

PredictedTime estimate(const GemmProblem& p, const KernelConfig& c, const DeviceInfo& device) {
    return naive_and_tiled_estimate(p, c, device, {.share_of_fma_rate = 0.04, .waits = 0.04 / 0.68 * static_cast<double>(p.k)});
}
double host_estimate(const GemmProblem& p, const KernelConfig&) {
    return elements_of_c(p) * static_cast<double>(p.k) * host_cost::kFmaFromMemory;
}
PhaseLoads phase_loads(const KernelConfig&) {
    return {.elements = 2, .by_copy_engine = false, .flop_per_load = 1};
}

constexpr Product kProduct{
    .multiplies_by_fma = true,
    .serves_any_size = true,
    .blocks = naive::blocks,
    .why_not = neutral::serves_all,
    .accumulators = neutral::unbounded,
    .is_brought_by_tma = neutral::never,
    .shares_k = false,
    .longest_chain = neutral::chain_of_k,
    .candidates = candidates,
    .defaults = defaults,
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

KernelConfig plainest_config() {
    return kPlainest;
}

constexpr Family kNaive{
    .number = family::naive,
    .kernel = {.arguments_type = neutral::plain_arguments,
               .moves_single_elements_of_ab = true,
               .moves_single_elements_of_c = true,
               .knows_tf32 = false,
               .preamble = neutral::no_preamble},
    .rules = {.fields = fields(&C::family, &C::block_m, &C::block_n, &C::boundary, &C::overlap),
              .violation = naive::first_violation,
              .threads = naive::threads,
              .shared_bytes = naive::shared_bytes,
              .cluster_size = neutral::field_cluster,
              .leaves_room = false},
    .product = &kProduct,
};

}  // namespace tmm
