// The family for a few rows, with columns that run along K, brought by the copy engine and multiplied by FMAs.
#include <cstring>

#include "generator/choice/cost_model_host.h"
#include "generator/families/candidate_choices.h"
#include "generator/families/descriptors.h"
#include "generator/families/neutral.h"
#include "generator/families/skinny/skinny.h"
#include "generator/plan/kernel_arguments.h"
#include "generator/plan/operand_maps.h"
#include "tmm/families/skinny/rules.h"

namespace tmm {

namespace {

using C = KernelConfig;

const char* arguments_type(const KernelConfig&) {
    return "tmm::SkinnyArgs";
}
std::optional<std::string> why_not(const GemmProblem& p, const KernelConfig&, const DeviceInfo& device) {
    return why_no_tma(p, device, false);
}
int accumulators(const KernelConfig& c) {
    return c.thread_m * c.thread_n;
}
bool is_brought_by_tma(const KernelConfig&) {
    return true;
}
i64 longest_chain(const GemmProblem&, const KernelConfig& c, i64 k) {
    return skinny::longest_chain(c, k);
}

std::vector<Product::Candidate> candidates(const GemmProblem& p, const DeviceInfo& device) {
    const auto configs = skinny_configs(p, device);
    return {configs.begin(), configs.end()};
}

double host_estimate(const GemmProblem& p, const KernelConfig& c) {
    return host_time_of_tiles(p, c, 0, host_cost::kFmaFromRegisters);
}
PhaseLoads phase_loads(const KernelConfig& c) {
    return loads_by_copy_engine(c);
}

constexpr Product kProduct{
    .multiplies_by_fma = true,
    .serves_any_size = false,
    .blocks = skinny::blocks,
    .why_not = why_not,
    .accumulators = accumulators,
    .is_brought_by_tma = is_brought_by_tma,
    .shares_k = true,
    .longest_chain = longest_chain,
    .candidates = candidates,
    .defaults = skinny_configs,
    .default_variants = neutral::no_default_variants,
    .uses_tensor_cores = neutral::never_on,
    .is_at_its_best = neutral::never_on,
    .is_unrivalled = neutral::never_with,
    .is_hard_to_compare = neutral::always_for,
    .doubt_of_ways = 0.0,
    .variants = neutral::no_variants,
    .adapt = neutral::as_tuned,
    .estimate = skinny_estimate,
    .host_estimate = host_estimate,
    .crowding = neutral::no_crowding,
    .phase_loads = phase_loads,
    .signature = neutral::original_layout,
    .applies_gate = neutral::leaves_gates,
    .walks = neutral::never,
    .copies = neutral::no_copies,
    .add_steps_before = neutral::no_steps,
    .add_steps_behind = neutral::no_steps,
    .bind = bind_skinny,
    .tensor_maps = skinny_tensor_maps,
};

}  // namespace

constexpr Family kSkinny{
    .number = family::skinny,
    .kernel = {.arguments_type = arguments_type,
               .moves_single_elements_of_ab = false,
               .moves_single_elements_of_c = true,
               .knows_tf32 = false,
               .preamble = neutral::no_preamble},
    .rules = {.fields = fields(&C::family, &C::block_m, &C::block_n, &C::block_k, &C::thread_m, &C::thread_n, &C::stages, &C::vector_width,
                               &C::boundary, &C::split_k, &C::swap_ab, &C::slice_k, &C::min_blocks, &C::overlap),
              .violation = skinny::first_violation,
              .threads = skinny::threads,
              .shared_bytes = skinny::shared_bytes,
              .cluster_size = neutral::field_cluster,
              .leaves_room = false},
    .product = &kProduct,
};

std::size_t bind_skinny(const LaunchPlan& plan, const LaunchStep&, const GemmCall& call, std::byte* arguments) {
    SkinnyArgs args;
    static_cast<GemmArgs&>(args) = product_args(plan, call);
    return write_arguments(args, arguments);
}

TensorMapRequests skinny_tensor_maps(const LaunchStep& step, const std::byte* arguments) {
    const KernelConfig& config = *config_of(step);
    SkinnyArgs args;
    std::memcpy(&args, arguments, sizeof args);
    const StoredMatrices a{.rows = args.m, .columns = args.k, .ld = args.lda, .stride = args.stride_a};
    const StoredMatrices b{.rows = args.n, .columns = args.k, .ld = args.ldb, .stride = args.stride_b};
    const bool swap = config.swap_ab != 0;
    return maps_of_floats(args,
                          {.map = offset_within(args, args.few),
                           .address = swap ? args.b : args.a,
                           .matrices = swap ? b : a,
                           .box = {.rows = config.block_m, .columns = config.block_k},
                           .times = blocks_many(config, args.m, args.n)},
                          {.map = offset_within(args, args.many),
                           .address = swap ? args.a : args.b,
                           .matrices = swap ? a : b,
                           .box = {.rows = config.block_n, .columns = config.block_k},
                           .times = blocks_few(config, args.m, args.n)});
}

}  // namespace tmm
