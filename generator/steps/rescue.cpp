#include "generator/steps/steps.h"

#include <algorithm>

#include "generator/families/simt/rescue_tile.h"
#include "generator/kernel/kernel_source.h"
#include "generator/plan/kernel_arguments.h"

namespace tmm {
namespace {

std::size_t bind(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments) {
    const KernelConfig& tile = std::get<Rescue>(step.kernel).tile;
    RescueArgs args;
    static_cast<GemmArgs&>(args) = make_args(plan, plan.geometry.main, call, division_of(plan.product, tile));
    if (leaves_partials(plan.geometry)) args.workspace = addresses_of(plan, call, plan.geometry.main).partials;
    const SplitOperands split = split_operands(plan, call);
    args.unfit_a = split.unfit_a;
    args.unfit_b = split.unfit_b;
    return write_arguments(args, arguments);
}

}  // namespace

void add_rescue(PlanBuilder& plan) {
    Rescue step{.tile = kRescueTile};
    step.tile.split_k = plan.geometry().partial_results;
    const Extent& main = plan.geometry().main;
    const std::int64_t items = rescue::items(step, main.rows, main.columns, plan.problem().batch, step.tile.split_k);
    const std::int64_t sms = plan.device().sm_count;
    plan.add(signature_of(plan.problem()), step, main, sms > 0 ? std::min(items, sms * step.tile.min_blocks) : items, bind);
}

StepFacts facts_of(const Rescue& step, const KernelSignature& signature) {
    return {
        .name = "rescue",
        .type = "Rescue",
        .arguments_type = "tmm::RescueArgs",
        .fields = {{.name = "tile", .value = config_initialiser(step.tile), .word = config_words(step.tile)}},
        .vector_of_ab = step.tile.vector_width,
        .vector_of_c = step.tile.vector_width,
        .knows_tf32 = false,
        .adds_partial_sums = false,
        .finishes_results = true,
        .violation = rescue::first_violation(step, signature),
        .blocks_per_sm = step.tile.min_blocks,
        .needs = {
            .threads = rescue::threads(step), .shared_bytes = rescue::shared_bytes(step, signature), .cluster = 1, .leaves_room = true}};
}

}  // namespace tmm
