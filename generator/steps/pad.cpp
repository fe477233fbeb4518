#include "generator/steps/steps.h"

#include "generator/steps/arguments.h"
#include "tmm/steps/pad/rules.h"

namespace tmm {
namespace {

std::int64_t blocks_that_pad(const GemmProblem& problem, const Pad& step) {
    const KernelSignature signature = signature_of(problem);
    std::int64_t pieces = 0;
    std::int64_t squares = 0;
    const auto add = [&](const pad::Shape& shape, bool turned, ElementType type) {
        if (turned)
            squares += pad::squares(shape, problem.batch, type);
        else
            pieces += pad::cut(type, shape.rows, shape.columns, problem.batch, 0, 0).pieces;
    };
    if (step.a) add(pad::copy_of_a(problem), pad::turns_a(step, signature), problem.type_a);
    if (step.b) add(pad::copy_of_b(problem), pad::turns_b(step, signature), problem.type_b);
    return pad::blocks(pieces, squares);
}

std::size_t bind(const Schedule& schedule, const LaunchStep& step, const GemmCall& call, std::byte* arguments) {
    const GemmProblem& problem = schedule.product;
    const OperandCopies& copies = schedule.copies;
    const Pad& copied = std::get<Pad>(step.kernel);
    const Addresses addresses = addresses_of(schedule, call, schedule.whole);
    PadArgs args;
    static_cast<GemmArgs&>(args) = make_args(schedule, schedule.whole, call, undivided(problem));
    const auto fill = [&](PadOperand& operand, const pad::Shape& shape, bool original_layout, ElementType type, const void* source,
                          void* copy, std::int64_t ld, std::int64_t stride, std::int64_t copy_ld) {
        if (original_layout && args.k > 0) operand = pad::cut(type, shape.rows, shape.columns, problem.batch, ld, copy_ld);
        operand.source = source;
        operand.copy = copy;
        operand.stride = stride * pad::units_of_element(type);
    };
    if (copied.a)
        fill(args.operands[0], pad::copy_of_a(problem), !pad::turns_a(copied, step.signature), problem.type_a, args.a, addresses.copy_of_a,
             problem.lda, problem.stride_a, copies.a.ld);
    if (copied.b)
        fill(args.operands[1], pad::copy_of_b(problem), !pad::turns_b(copied, step.signature), problem.type_b, args.b, addresses.copy_of_b,
             problem.ldb, problem.stride_b, copies.b.ld);
    return write_arguments(args, arguments);
}

}  // namespace

GemmProblem padded_problem(const GemmProblem& problem, const KernelConfig& config) {
    GemmProblem padded = problem;
    const KernelSignature signature = signature_of(problem);
    const Pad step = pad::step_for(config);
    const auto lay = [&](i64& ld, i64& stride, const pad::Shape& shape, ElementType type) {
        ld = pad::padded_ld(shape.columns, type);
        stride = problem.batch > 1 ? shape.rows * ld : 0;
    };
    if (step.a) lay(padded.lda, padded.stride_a, pad::copy_of_a(problem), problem.type_a);
    if (step.b) lay(padded.ldb, padded.stride_b, pad::copy_of_b(problem), problem.type_b);
    if (pad::turns_a(step, signature)) padded.op_a = Operation::none;
    if (pad::turns_b(step, signature)) padded.op_b = Operation::transpose;
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

void add_pad(StepList& list) {
    const Pad step = pad::step_for(list.schedule.config);
    list.add(signature_of(list.schedule.product), step, list.schedule.whole, blocks_that_pad(list.schedule.product, step), bind);
}

StepFacts facts_of(const Pad& step, const KernelSignature& signature) {
    return {
        .name = "pad",
        .type = "Pad",
        .arguments_type = "tmm::PadArgs",
        .fields = {flag_field("a", step.a), flag_field("b", step.b)},
        .vector_of_ab = 1,
        .vector_of_c = 1,
        .knows_tf32 = true,
        .adds_partial_sums = false,
        .finishes_results = false,
        .violation = pad::first_violation(step, signature),
        .blocks_per_sm = pad::kBlocksPerSm,
        .needs = {.threads = pad::threads(step), .shared_bytes = pad::shared_bytes(step, signature), .cluster = 1, .leaves_room = false}};
}

}  // namespace tmm
