// The family for a few rows, with columns that run along K, brought by the copy engine and multiplied by FMAs.
#include <cstring>

#include "generator/families/candidate_choices.h"
#include "generator/families/family.h"
#include "generator/families/host_cost.h"
#include "generator/families/skinny/skinny.h"
#include "generator/steps/arguments.h"
#include "generator/steps/tensor_maps.h"
#include "tmm/families/skinny/rules.h"

namespace tmm {

namespace {

using C = KernelConfig;

const char* arguments_type(const KernelConfig&) {
    return "tmm::SkinnyArgs";
}
std::optional<std::string> rejection(const Schedule& s, const DeviceInfo& device) {
    return why_no_tma(s.product, device, false);
}
int accumulators(const KernelConfig& c) {
    return c.thread_m * c.thread_n;
}
i64 longest_chain(const KernelSignature&, const KernelConfig& c, i64 k) {
    return skinny::longest_chain(c, k);
}

std::vector<Search::Candidate> candidates(const GemmProblem& p, const DeviceInfo& device) {
    const auto configs = skinny_configs(p, device);
    return {configs.begin(), configs.end()};
}

double host_estimate(const Schedule& s) {
    return host_time_of_tiles(s, 0, host_cost::kFmaFromRegisters);
}
PhaseLoads phase_loads(const KernelConfig& c) {
    return loads_by_copy_engine(c);
}

Rank rank(const GemmProblem&, const DeviceInfo&) {
    return {.is_hard_to_compare = true};
}
void add_steps(StepList& list) {
    add_product(list, bind_skinny, skinny_tensor_maps);
}

}  // namespace

extern constexpr Family kSkinny{
    .number = family::skinny,
    .traits = {.multiplies_by_fma = true, .shares_k = true, .moves_single_elements_of_c = true},
    .rules = {.fields = fields(&C::family, &C::block_m, &C::block_n, &C::block_k, &C::thread_m, &C::thread_n, &C::stages, &C::vector_width,
                               &C::boundary, &C::split_k, &C::swap_ab, &C::slice_k, &C::min_blocks, &C::overlap),
              .violation = skinny::first_violation,
              .threads = skinny::threads,
              .shared_bytes = skinny::shared_bytes,
              .blocks = skinny::blocks,
              .rejection = rejection,
              .accumulators = accumulators,
              .longest_chain = longest_chain},
    .search = {.candidates = candidates, .defaults = skinny_configs, .rank = rank},
    .model = {.estimate = skinny_estimate, .host_estimate = host_estimate, .phase_loads = phase_loads},
    .launch = {.arguments_type = arguments_type, .add_steps = add_steps},
};

std::size_t bind_skinny(const Schedule& schedule, const LaunchStep&, const GemmCall& call, std::byte* arguments) {
    SkinnyArgs args;
    static_cast<GemmArgs&>(args) = product_args(schedule, call);
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
