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

GemmCall padded_call(const GemmProblem& problem, const KernelConfig& config, GemmCall call) {
    std::int64_t offset = 0;
    const auto take = [&](const void*& matrix, const pad::Shape& shape, ElementType type) {
        matrix = at(call.workspace, offset);
        offset += pad::padded_bytes(shape.rows, shape.columns, problem.batch, type);
    };
    if (pad::pads_a(config)) take(call.a, pad::copy_of_a(problem), problem.type_a);
    if (pad::pads_b(config)) take(call.b, pad::copy_of_b(problem), problem.type_b);
    return call;
}

std::size_t bind_pad(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    PadArgs args;
    static_cast<GemmArgs&>(args) = make_args(step, problem, call);
    const KernelConfig& config = step.config;
    const GemmProblem padded = padded_problem(problem, config);
    const GemmCall copies = padded_call(problem, config, call);
    const auto fill = [&](PadOperand& operand, const pad::Shape& shape, bool as_it_lies, ElementType type, const void* source,
                          const void* copy, std::int64_t ld, std::int64_t stride, std::int64_t copy_ld) {
        const int units = size_of(type) / 2;
        if (as_it_lies && args.k > 0) operand = pad::cut(shape.rows, shape.columns * units, problem.batch, ld * units, copy_ld * units);
        operand.source = source;
        operand.copy = const_cast<void*>(copy);
        operand.stride = stride * units;
    };
    if (pad::pads_a(config))
        fill(args.operands[0], pad::copy_of_a(problem), !pad::turns_a(config, step.signature), problem.type_a, args.a, copies.a,
             problem.lda, problem.stride_a, padded.lda);
    if (pad::pads_b(config))
        fill(args.operands[1], pad::copy_of_b(problem), !pad::turns_b(config, step.signature), problem.type_b, args.b, copies.b,
             problem.ldb, problem.stride_b, padded.ldb);
    return write_arguments(args, arguments);
}

}  // namespace tmm
