// The family for tensor cores that warps use: mma.sync, ldmatrix, cp.async.
#include "tmm/families/mma/rules.h"

#include "generator/choice/cost_model_host.h"
#include "generator/families/descriptors.h"
#include "generator/families/mma/mma.h"
#include "generator/families/neutral.h"
#include "generator/plan/kernel_arguments.h"

namespace tmm {
namespace {

using C = KernelConfig;

std::optional<std::string> why_not(const GemmProblem&, const KernelConfig&, const DeviceInfo& device) {
    if (device.compute_capability() < 80) return "mma.sync of 16 x 8 x 16 needs compute capability 8.0";
    return std::nullopt;
}
i64 longest_chain(const GemmProblem&, const KernelConfig&, i64 k) {
    return mma::longest_chain(k);
}
bool uses_tensor_cores(const GemmProblem& p, const DeviceInfo& device) {
    return is_16_bit(p.type_a) && device.compute_capability() >= 80;
}

double host_estimate(const GemmProblem& p, const KernelConfig& c) {
    const double vectors = static_cast<double>(c.block_m + c.block_n) * c.block_k / c.vector_width / mma::threads(c);
    const double products = mma::accumulators(c) / 4.0 * c.block_k / 16;
    const double copies = vectors * (c.async_copy != 0 ? host_cost::kAsyncCopy : host_cost::kCopy);
    return host_time_of_tiles(p, c, host_cost::kSwitch + copies + 1.5 * products * host_cost::kWarpOperation, 0);
}
PhaseLoads phase_loads(const KernelConfig& c) {
    return {.elements = static_cast<double>(c.block_k) * (c.block_m + c.block_n) / mma::threads(c),
            .by_copy_engine = false,
            .flop_per_load = flop_per_load_of_tile(c)};
}

constexpr Product kProduct{
    .multiplies_by_fma = false,
    .serves_any_size = false,
    .blocks = mma::blocks,
    .why_not = why_not,
    .accumulators = mma::accumulators,
    .is_brought_by_tma = neutral::never,
    .shares_k = false,
    .longest_chain = longest_chain,
    .candidates = mma_candidates,
    .defaults = mma_defaults,
    .default_variants = neutral::no_default_variants,
    .uses_tensor_cores = uses_tensor_cores,
    .is_at_its_best = neutral::never_on,
    .is_unrivalled = neutral::never_with,
    .is_hard_to_compare = neutral::always_for,
    .doubt_of_ways = 0.0,
    .variants = neutral::no_variants,
    .adapt = neutral::as_tuned,
    .estimate = mma_estimate,
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

constexpr Family kMma{
    .number = family::mma,
    .kernel = {.arguments_type = neutral::plain_arguments,
               .moves_single_elements_of_ab = false,
               .moves_single_elements_of_c = false,
               .knows_tf32 = false,
               .preamble = neutral::no_preamble},
    .rules = {.fields = fields(&C::family, &C::block_m, &C::block_n, &C::block_k, &C::warps_m, &C::warps_n, &C::stages, &C::async_copy,
                               &C::vector_width, &C::boundary, &C::split_k, &C::raster, &C::min_blocks, &C::overlap),
              .violation = mma::first_violation,
              .threads = mma::threads,
              .shared_bytes = mma::shared_bytes,
              .cluster_size = neutral::field_cluster,
              .leaves_room = false},
    .product = &kProduct,
};

}  // namespace tmm
