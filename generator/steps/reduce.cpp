#include "generator/steps/steps.h"

#include "generator/steps/arguments.h"

namespace tmm {
namespace {

// About one block for each SM of a large GPU.
constexpr std::int64_t kBlocksWanted = 128;

// The kernel takes whole parts as they are: no tile bounds their depth.
std::size_t bind(const Schedule& schedule, const LaunchStep&, const GemmCall& call, std::byte* arguments) {
    const int parts = schedule.partial_results;
    return write_arguments(sum_args(schedule, call, {.split_k = parts, .k_per_split = depth_of_split(schedule.product.k, parts, 1)}),
                           arguments);
}

}  // namespace

// Where there are many parts, threads share an element's parts: the fewer the elements, the more threads do.
Reduce reduce_for(const Extent& extent, std::int64_t batch, int parts) {
    const std::int64_t rows = extent.rows * batch;
    int sharers = parts >= 64 ? 16 : parts >= 16 ? 8 : parts >= 8 ? 4 : 1;
    int columns = extent.columns <= 64 ? 64 : sharers == 16 ? 128 : 256;
    while (columns > 16 && columns / reduce::kVector * sharers > 32 && rows * ((extent.columns + columns - 1) / columns) < kBlocksWanted) {
        columns /= 2;
        if (sharers < 32 && 16 * sharers <= parts) sharers *= 2;
    }
    return {.sharers = sharers, .columns = columns};
}
Reduce reduce_for(const Schedule& schedule) {
    return reduce_for(schedule.main, schedule.product.batch, schedule.partial_results);
}

void add_reduce(StepList& list) {
    const Extent& main = list.schedule.main;
    const Reduce step = reduce_for(list.schedule);
    list.add(list.schedule.signature, step, main, reduce::blocks(step, main.rows, main.columns, list.schedule.product.batch), bind);
}

StepFacts facts_of(const Reduce& step, const KernelSignature& signature) {
    return {
        .name = "reduce",
        .type = "Reduce",
        .arguments_type = "tmm::GemmArgs",
        .fields = {number_field("sharers", step.sharers), number_field("columns", step.columns)},
        .vector_of_ab = 1,
        .vector_of_c = reduce::kVector,
        .knows_tf32 = false,
        .adds_partial_sums = true,
        .finishes_results = true,
        .violation = reduce::first_violation(step, signature),
        .blocks_per_sm = 1,
        .needs = {
            .threads = reduce::threads(step), .shared_bytes = reduce::shared_bytes(step, signature), .cluster = 1, .leaves_room = true}};
}

}  // namespace tmm
