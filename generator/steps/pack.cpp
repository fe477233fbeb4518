#include "generator/steps/pack.h"

#include "generator/families/family.h"
#include "generator/plan/kernel_arguments.h"

namespace tmm {

GemmArgs with_packed_operands(GemmArgs args, const LaunchStep& step, const GemmProblem& problem, const GemmCall& call) {
    std::int64_t packed = 0;
    if (pack::packs_a(step.config)) {
        args.a = at(call.workspace, 0);
        args.lda = packed_ld(args.m);
        args.stride_a = args.lda * pack::packed_depth(problem.k);
        packed = pack::packed_elements(args.m, problem.k, problem.batch) * size_of(problem.type_a);
    }
    if (pack::packs_b(step.config)) {
        args.b = at(call.workspace, packed);
        args.ldb = packed_ld(args.n);
        args.stride_b = args.ldb * pack::packed_depth(problem.k);
    }
    return args;
}

unsigned* counters_of_packers(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call) {
    const i64 packed = pack::workspace_elements(step.plan_config, step.extent.rows, step.extent.columns, problem.k, problem.batch);
    return reinterpret_cast<unsigned*>(at(call.workspace, packed * size_of(problem.type_a)));
}

PackedStrip packed_strip(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, bool with_a) {
    const int lines = with_a ? step.strips.columns : step.strips.rows;
    if (lines == 0) return {};
    const bool along_k = with_a ? problem.op_b == Operation::transpose : problem.op_a == Operation::none;
    const std::int64_t ld = with_a ? problem.ldb : problem.lda;
    const void* const few = with_a ? advanced(call.b, offset_b(problem, {.column0 = step.extent.columns}), problem.type_b)
                                   : advanced(call.a, offset_a(problem, {.row0 = step.extent.rows}), problem.type_a);
    return {.lines = lines,
            .few = static_cast<const float*>(few),
            .line_distance = along_k ? ld : 1,
            .k_distance = along_k ? 1 : ld,
            .stride = with_a ? problem.stride_b : problem.stride_a,
            .sums = reinterpret_cast<float*>(at(call.workspace, with_a ? step.strip_sums.of_columns : step.strip_sums.of_rows))};
}

std::size_t bind_pack(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    PackArgs args;
    static_cast<GemmArgs&>(args) = make_args(step, problem, call);
    args.depth = problem.k;
    args.lines = product_of(step.plan_config).is_brought_by_tma(step.plan_config) ? args.k : pack::packed_depth(args.k);
    if (pack::packs_beside(step.plan_config)) {
        args.depth = i64{step.packing.first_row} * pack::kTile;
        args.squares = counters_of_packers(step, problem, call);
    }
    args.with_a = packed_strip(step, problem, call, true);
    args.with_b = packed_strip(step, problem, call, false);
    return write_arguments(args, arguments);
}

}  // namespace tmm
