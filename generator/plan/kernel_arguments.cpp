#include "generator/plan/kernel_arguments.h"

#include <tuple>

namespace tmm {

std::int64_t k_per_split(const GemmProblem& problem, const KernelConfig& config) {
    const std::int64_t share = (problem.k + config.split_k - 1) / config.split_k;
    return (share + config.block_k - 1) / config.block_k * config.block_k;
}

std::int64_t offset_a(const GemmProblem& problem, const Extent& extent) {
    return problem.op_a == Operation::none ? extent.row0 * problem.lda : extent.row0;
}
std::int64_t offset_b(const GemmProblem& problem, const Extent& extent) {
    return problem.op_b == Operation::none ? extent.column0 : extent.column0 * problem.ldb;
}
std::int64_t offset_c(const GemmProblem& problem, const Extent& extent) {
    return extent.row0 * problem.ldc + extent.column0;
}

const void* advanced(const void* pointer, std::int64_t elements, ElementType type) {
    return pointer ? static_cast<const std::byte*>(pointer) + elements * size_of(type) : nullptr;
}

GemmArgs make_args(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call) {
    const auto& [config, extent] = std::tie(step.config, step.extent);
    // alpha = 0 promises that A and B are not read, whatever stands there, NaN and null pointers included; k = 0 does that, and
    // leaves beta * C.
    const bool product = call.alpha != 0 && problem.k > 0;
    return GemmArgs{.a = advanced(call.a, offset_a(problem, extent), problem.type_a),
                    .b = advanced(call.b, offset_b(problem, extent), problem.type_b),
                    .c = static_cast<std::byte*>(call.c) + offset_c(problem, extent) * size_of(problem.type_c),
                    .bias = call.bias,
                    .workspace = call.workspace,
                    .m = extent.rows,
                    .n = extent.columns,
                    .k = product ? problem.k : 0,
                    .batch = problem.batch,
                    .lda = problem.lda,
                    .ldb = problem.ldb,
                    .ldc = problem.ldc,
                    .stride_a = problem.stride_a,
                    .stride_b = problem.stride_b,
                    .stride_c = problem.stride_c,
                    .k_per_split = k_per_split(problem, config),
                    .split_k = config.split_k,
                    .raster = config.raster,
                    .stream_blocks = static_cast<int>(step.line.blocks),
                    .strip_begin = static_cast<int>(extent.row0 + extent.column0),
                    .stream_tiles = step.line.tiles,
                    .alpha = product ? call.alpha : 0.0,
                    .beta = call.beta};
}

std::byte* at(void* workspace, std::int64_t offset) {
    return static_cast<std::byte*>(workspace) + offset;
}

GemmArgs with_partials(GemmArgs args, const LaunchStep& step, const GemmCall& call) {
    if (partial_results(step.config) > 1 || step.line.blocks > 0) args.workspace = at(call.workspace, step.partials_offset);
    return args;
}

GemmArgs sum_args(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call) {
    GemmArgs args = make_args(step, problem, call);
    args.workspace = at(call.workspace, step.partials_offset);
    return args;
}

std::size_t bind_product(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    return write_arguments(with_partials(make_args(step, problem, call), step, call), arguments);
}

}  // namespace tmm
