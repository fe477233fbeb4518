#include "generator/steps/planes.h"

#include <algorithm>
#include <cstring>

#include "generator/plan/kernel_arguments.h"

namespace tmm {
namespace {

PlanesOperand planes_at(void* first, const planes::Operand& operand, int planes) {
    std::int64_t offset = 0;
    const auto take = [&](std::int64_t bytes) {
        std::byte* const place = at(first, offset);
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
GemmArgs make_split_args(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call) {
    GemmArgs args = make_args(step, problem, call);
    args.k_per_split = k_per_split(problem, step.plan_config);
    args.split_k = step.plan_config.split_k;
    return args;
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
                         .k_per_split = k_per_split(p, config),
                         .split_k = config.split_k};
    return {.a = planes::operand_a(shape, signature_of(p)), .b = planes::operand_b(shape, signature_of(p))};
}

SplitOperands split_operands(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call) {
    const PlanesOperands operands = planes_operands(problem, step.plan_config);
    const auto find = [&](const void* prepared, const planes::Operand& operand, std::int64_t offset) {
        return planes_at(prepared ? const_cast<void*>(prepared) : at(call.workspace, offset), operand, step.plan_config.planes);
    };
    SplitOperands split;
    split.a = find(call.prepared_a, operands.a, 0);
    split.b = find(call.prepared_b, operands.b, planes::operand_bytes(operands.a, step.plan_config.planes));
    split.unfit_a = {.of_tile = split.a.unfit, .count = planes::items(operands.a)};
    split.unfit_b = {.of_tile = split.b.unfit, .count = planes::items(operands.b)};
    return split;
}

std::size_t bind_planes(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    PlanesArgs args;
    static_cast<GemmArgs&>(args) = make_split_args(step, problem, call);
    const SplitOperands split = split_operands(step, problem, call);
    if (!call.prepared_a) args.planes_a = split.a;
    if (!call.prepared_b) args.planes_b = split.b;
    return write_arguments(args, arguments);
}

std::size_t bind_preparation(const LaunchStep& step, const GemmProblem& problem, const Preparation& preparation, std::byte* arguments) {
    const bool of_a = preparation.operand == GemmOperand::a;
    const PlanesOperands operands = planes_operands(problem, step.plan_config);
    PlanesArgs args;
    static_cast<GemmArgs&>(args) = make_split_args(step, problem, GemmCall{});
    (of_a ? args.a : args.b) = preparation.matrix;
    (of_a ? args.planes_a : args.planes_b) = planes_at(preparation.prepared, of_a ? operands.a : operands.b, step.plan_config.planes);
    return write_arguments(args, arguments);
}

std::int64_t busy_blocks(const LaunchStep& step, const std::byte* arguments) {
    PlanesArgs args;
    std::memcpy(&args, arguments, sizeof args);
    const planes::Operand a = planes::operand_a(args, step.signature);
    const planes::Operand b = planes::operand_b(args, step.signature);
    const std::int64_t clusters = planes::items(a, args.planes_a) + planes::items(b, args.planes_b);
    return std::min(clusters * step.config.cluster, step.grid);
}

}  // namespace tmm
