#include "generator/steps/steps.h"

#include <algorithm>

#include "generator/steps/arguments.h"
#include "generator/text/config_source.h"

namespace tmm {
namespace {

std::size_t bind(const Schedule& schedule, const LaunchStep& step, const GemmCall& call, std::byte* arguments) {
    const KernelConfig& tile = std::get<Rescue>(step.kernel).tile;
    RescueArgs args;
    static_cast<GemmArgs&>(args) = make_args(schedule, schedule.main, call, division_of(schedule.product, tile));
    if (leaves_partials(schedule)) args.workspace = addresses_of(schedule, call, schedule.main).partials;
    const SplitOperands split = split_operands(schedule, call);
    args.unfit_a = split.unfit_a;
    args.unfit_b = split.unfit_b;
    return write_arguments(args, arguments);
}

}  // namespace

void add_rescue(StepList& list) {
    Rescue step{.tile = rescue::kTile};
    step.tile.split_k = list.schedule.partial_results;
    const Extent& main = list.schedule.main;
    const std::int64_t items = rescue::items(step, main.rows, main.columns, list.schedule.product.batch, step.tile.split_k);
    const std::int64_t sms = list.device.sm_count;
    KernelSignature signature = signature_of(list.schedule.product);
    // It multiplies all of C, for what is not wanted of it stands in no one's way.
    signature.result = Result::full;
    list.add(signature, step, main, sms > 0 ? std::min(items, sms * step.tile.min_blocks) : items, bind);
}

namespace {

StepField tile_field(const KernelConfig& tile) {
    const KernelConfig kernel = kernel_config(tile);
    return {.name = "tile", .value = "{" + config_fields(kernel) + "}", .word = config_part_of_name(kernel).substr(1)};
}

}  // namespace

StepFacts facts_of(const Rescue& step, const KernelSignature& signature) {
    return {
        .name = "rescue",
        .type = "Rescue",
        .arguments_type = "tmm::RescueArgs",
        .fields = {tile_field(step.tile)},
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
