#include "generator/steps/steps.h"

#include "generator/steps/arguments.h"

namespace tmm {
namespace {

std::size_t bind(const Schedule& schedule, const LaunchStep&, const GemmCall& call, std::byte* arguments) {
    Division division = division_of(schedule.product, schedule.config);
    division.line = schedule.line;
    return write_arguments(sum_args(schedule, call, division), arguments);
}

}  // namespace

void add_fixup(StepList& list) {
    const KernelConfig& product = list.schedule.config;
    const Fixup step{.block_m = product.block_m, .block_n = product.block_n, .block_k = product.block_k};
    list.add(list.schedule.signature, step, list.schedule.main, list.schedule.line.tiles * fixup::blocks_per_tile(step), bind);
}

StepFacts facts_of(const Fixup& step, const KernelSignature& signature) {
    return {.name = "fixup",
            .type = "Fixup",
            .arguments_type = "tmm::GemmArgs",
            .fields = {number_field("block_m", step.block_m), number_field("block_n", step.block_n), number_field("block_k", step.block_k)},
            .vector_of_ab = 1,
            .vector_of_c = fixup::kVector,
            .knows_tf32 = false,
            .adds_partial_sums = true,
            .finishes_results = true,
            .violation = fixup::first_violation(step, signature),
            .blocks_per_sm = 1,
            .needs = {.threads = fixup::threads(step), .shared_bytes = 0, .cluster = 1, .leaves_room = true}};
}

}  // namespace tmm
