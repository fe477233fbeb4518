#include "generator/steps/steps.h"

#include <algorithm>
#include <cstring>

#include "generator/steps/arguments.h"

namespace tmm {
namespace {

PlanesOperand planes_at(void* first, const planes::Operand& operand, int planes) {
    std::int64_t offset = 0;
    const auto take = [&](std::int64_t bytes) {
        std::byte* const place = static_cast<std::byte*>(first) + offset;
        offset += bytes;
        return place;
    };
    PlanesOperand taken;
    taken.planes = take(planes::planes_bytes(operand, planes));
    taken.exponents = reinterpret_cast<int*>(take(planes::exponents_bytes(operand)));
    taken.unfit = reinterpret_cast<unsigned*>(take(planes::unfit_bytes(operand)));
    return taken;
}

// Operands are split in the parts of K that are multiplied apart.
GemmArgs split_args(const Schedule& schedule, const GemmCall& call) {
    return make_args(schedule, schedule.main, call, {.split_k = schedule.config.split_k, .k_per_split = schedule.k_per_split});
}

}  // namespace

PlanesOperands planes_operands(const GemmProblem& p, const KernelConfig& config) {
    const GemmArgs shape{.m = p.m,
                         .n = p.n,
                         .k = p.k,
                         .batch = p.batch,
                         .lda = p.lda,
                         .ldb = p.ldb,
                         .stride_a = p.stride_a,
                         .stride_b = p.stride_b,
                         .k_per_split = depth_of_split(p.k, config.split_k, config.block_k),
                         .split_k = config.split_k};
    return {.a = planes::operand_a(shape, signature_of(p)), .b = planes::operand_b(shape, signature_of(p))};
}

OperandCopies planes_copies(const GemmProblem& problem, const KernelConfig& config) {
    const auto copy = [&](const planes::Operand& operand) {
        const i64 ld = pad::padded_ld(operand.columns, planes::type_of(config.planes));
        return OperandCopy{.is_made = true,
                           .bytes = planes::operand_bytes(operand, config.planes),
                           .ld = ld,
                           .stride = operand.matrices > 1 ? config.planes * operand.rows * ld : 0};
    };
    const PlanesOperands operands = planes_operands(problem, config);
    return {.a = copy(operands.a), .b = copy(operands.b)};
}

SplitOperands split_operands(const Schedule& schedule, const GemmCall& call) {
    const PlanesOperands operands = planes_operands(schedule.product, schedule.config);
    const Addresses addresses = addresses_of(schedule, call, schedule.main);
    SplitOperands split;
    split.a = planes_at(addresses.copy_of_a, operands.a, schedule.config.planes);
    split.b = planes_at(addresses.copy_of_b, operands.b, schedule.config.planes);
    split.unfit_a = {.of_tile = split.a.unfit, .count = planes::items(operands.a)};
    split.unfit_b = {.of_tile = split.b.unfit, .count = planes::items(operands.b)};
    return split;
}

namespace {

std::size_t bind(const Schedule& schedule, const LaunchStep&, const GemmCall& call, std::byte* arguments) {
    PlanesArgs args;
    static_cast<GemmArgs&>(args) = split_args(schedule, call);
    const SplitOperands split = split_operands(schedule, call);
    if (!call.prepared_a) args.planes_a = split.a;
    if (!call.prepared_b) args.planes_b = split.b;
    return write_arguments(args, arguments);
}

std::size_t bind_preparation(const Schedule& schedule, const LaunchStep&, const Preparation& preparation, std::byte* arguments) {
    const bool of_a = preparation.operand == GemmOperand::a;
    const PlanesOperands operands = planes_operands(schedule.product, schedule.config);
    PlanesArgs args;
    static_cast<GemmArgs&>(args) = split_args(schedule, GemmCall{});
    (of_a ? args.a : args.b) = preparation.matrix;
    (of_a ? args.planes_a : args.planes_b) = planes_at(preparation.prepared, of_a ? operands.a : operands.b, schedule.config.planes);
    return write_arguments(args, arguments);
}

std::int64_t busy_blocks(const LaunchStep& step, const std::byte* arguments) {
    PlanesArgs args;
    std::memcpy(&args, arguments, sizeof args);
    const planes::Operand a = planes::operand_a(args, step.signature);
    const planes::Operand b = planes::operand_b(args, step.signature);
    const std::int64_t clusters = planes::items(a, args.planes_a) + planes::items(b, args.planes_b);
    return std::min(clusters * step.cluster, step.grid);
}

}  // namespace

void add_planes(StepList& list) {
    const PlanesOperands operands = planes_operands(list.schedule.product, list.schedule.config);
    const i64 depth = depth_of_parts(list.schedule);
    const Planes split{.planes = list.schedule.config.planes, .cluster = planes::cluster_for(depth), .slots = planes::slots_for(depth)};
    const i64 items = planes::items(operands.a) + planes::items(operands.b);
    LaunchStep& step = list.add(signature_of(list.schedule.product), split, list.schedule.main, planes::blocks(split, items), bind);
    step.bind_preparation = bind_preparation;
    step.busy_blocks = busy_blocks;
}

StepFacts facts_of(const Planes& step, const KernelSignature& signature) {
    return {
        .name = "planes",
        .type = "Planes",
        .arguments_type = "tmm::PlanesArgs",
        .fields = {number_field("planes", step.planes), number_field("cluster", step.cluster), number_field("slots", step.slots)},
        .vector_of_ab = planes::kQuad,
        .vector_of_c = 1,
        .knows_tf32 = false,
        .adds_partial_sums = false,
        .finishes_results = false,
        .violation = planes::first_violation(step, signature),
        .blocks_per_sm = planes::blocks_per_sm(step.slots),
        .needs = {
            .threads = planes::threads(step), .shared_bytes = planes::shared_bytes(step), .cluster = step.cluster, .leaves_room = false}};
}

}  // namespace tmm
