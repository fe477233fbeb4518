#include "generator/steps/pad.h"

#include "generator/plan/kernel_arguments.h"
#include "tmm/steps/pad/rules.h"

namespace tmm {

GemmProblem padded_problem(const GemmProblem& problem, const KernelConfig& config) {
    GemmProblem padded = problem;
    const KernelSignature signature = signature_of(problem);
    const auto lay = [&](i64& ld, i64& stride, const pad::Shape& shape, ElementType type) {
        ld = pad::padded_ld(shape.columns, type);
        stride = problem.batch > 1 ? shape.rows * ld : 0;
    };
    if (pad::pads_a(config)) lay(padded.lda, padded.stride_a, pad::copy_of_a(problem), problem.type_a);
    if (pad::pads_b(config)) lay(padded.ldb, padded.stride_b, pad::copy_of_b(problem), problem.type_b);
    if (pad::turns_a(config, signature)) padded.op_a = Operation::none;
    if (pad::turns_b(config, signature)) padded.op_b = Operation::transpose;
    return padded;
}

OperandCopies padded_copies(const GemmProblem& problem, const KernelConfig& config) {
    const GemmProblem padded = padded_problem(problem, config);
    const auto copy = [&](const pad::Shape& shape, ElementType type, i64 ld, i64 stride) {
        return OperandCopy{
            .is_made = true, .bytes = pad::padded_bytes(shape.rows, shape.columns, problem.batch, type), .ld = ld, .stride = stride};
    };
    OperandCopies copies;
    if (pad::pads_a(config)) copies.a = copy(pad::copy_of_a(problem), problem.type_a, padded.lda, padded.stride_a);
    if (pad::pads_b(config)) copies.b = copy(pad::copy_of_b(problem), problem.type_b, padded.ldb, padded.stride_b);
    return copies;
}

std::size_t bind_pad(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments) {
    const GemmProblem& problem = plan.problem;
    const OperandCopies& copies = plan.geometry.copies;
    const KernelConfig& config = step.config;
    const Addresses addresses = addresses_of(plan, call, plan.geometry.whole);
    PadArgs args;
    static_cast<GemmArgs&>(args) = make_args(plan, plan.geometry.whole, call, undivided(problem));
    const auto fill = [&](PadOperand& operand, const pad::Shape& shape, bool as_it_lies, ElementType type, const void* source, void* copy,
                          std::int64_t ld, std::int64_t stride, std::int64_t copy_ld) {
        const int units = size_of(type) / 2;
        if (as_it_lies && args.k > 0) operand = pad::cut(shape.rows, shape.columns * units, problem.batch, ld * units, copy_ld * units);
        operand.source = source;
        operand.copy = copy;
        operand.stride = stride * units;
    };
    if (pad::pads_a(config))
        fill(args.operands[0], pad::copy_of_a(problem), !pad::turns_a(config, step.signature), problem.type_a, args.a, addresses.copy_of_a,
             problem.lda, problem.stride_a, copies.a.ld);
    if (pad::pads_b(config))
        fill(args.operands[1], pad::copy_of_b(problem), !pad::turns_b(config, step.signature), problem.type_b, args.b, addresses.copy_of_b,
             problem.ldb, problem.stride_b, copies.b.ld);
    return write_arguments(args, arguments);
}

}  // namespace tmm
