#include "generator/plan/kernel_arguments.h"

#include <algorithm>
#include <iterator>

namespace tmm {

Division undivided(const GemmProblem& problem) {
    return {.k_per_split = problem.k};
}

Division division_of(const GemmProblem& problem, const KernelConfig& config) {
    return {.split_k = config.split_k, .k_per_split = depth_of_split(problem.k, config.split_k, config.block_k), .raster = config.raster};
}

EpilogueArgs epilogue_args(const GemmProblem& problem, const GemmCall& call) {
    EpilogueArgs args{.bias = call.bias, .residual = call.residual, .ldr = problem.ldr, .stride_r = problem.stride_r};
    std::copy(std::begin(call.parameters), std::end(call.parameters), args.parameters);
    return args;
}

GemmArgs make_args(const LaunchPlan& plan, const Extent& part, const GemmCall& call, const Division& division) {
    const GemmProblem& problem = plan.product;
    const Addresses addresses = addresses_of(plan, call, part);
    // alpha = 0 promises that A and B are not read, whatever stands there, NaN and null pointers included; k = 0 does that, and
    // leaves beta * C.
    const bool product = call.alpha != 0 && problem.k > 0;
    return GemmArgs{.a = addresses.a,
                    .b = addresses.b,
                    .c = addresses.c,
                    .workspace = call.workspace,
                    .m = part.rows,
                    .n = part.columns,
                    .k = product ? problem.k : 0,
                    .batch = problem.batch,
                    .lda = problem.lda,
                    .ldb = problem.ldb,
                    .ldc = problem.ldc,
                    .stride_a = problem.stride_a,
                    .stride_b = problem.stride_b,
                    .stride_c = problem.stride_c,
                    .k_per_split = division.k_per_split,
                    .split_k = division.split_k,
                    .raster = division.raster,
                    .stream_blocks = static_cast<int>(division.line.blocks),
                    .strip_begin = static_cast<int>(part.row0 + part.column0),
                    .stream_tiles = division.line.tiles,
                    .alpha = product ? call.alpha : 0.0,
                    .beta = call.beta,
                    .epilogue = epilogue_args(problem, call)};
}

bool leaves_partials(const Geometry& geometry) {
    return geometry.partial_results > 1 || geometry.line.blocks > 0;
}

GemmArgs product_args(const LaunchPlan& plan, const GemmCall& call) {
    const Geometry& geometry = plan.geometry;
    const Addresses addresses = addresses_of(plan, call, geometry.main);
    GemmArgs args = make_args(
        plan, geometry.main, call,
        {.split_k = plan.config.split_k, .k_per_split = geometry.k_per_split, .raster = plan.config.raster, .line = geometry.line});
    const auto read_copy = [](const OperandCopy& copy, const void* place, const void*& operand, i64& ld, i64& stride) {
        if (!copy.is_made) return;
        operand = place;
        ld = copy.ld;
        stride = copy.stride;
    };
    read_copy(geometry.copies.a, addresses.copy_of_a, args.a, args.lda, args.stride_a);
    read_copy(geometry.copies.b, addresses.copy_of_b, args.b, args.ldb, args.stride_b);
    if (leaves_partials(geometry)) args.workspace = addresses.partials;
    return args;
}

GemmArgs sum_args(const LaunchPlan& plan, const GemmCall& call, const Division& division) {
    GemmArgs args = make_args(plan, plan.geometry.main, call, division);
    args.workspace = addresses_of(plan, call, plan.geometry.main).partials;
    return args;
}

std::size_t bind_product(const LaunchPlan& plan, const LaunchStep&, const GemmCall& call, std::byte* arguments) {
    return write_arguments(product_args(plan, call), arguments);
}

std::size_t bind_strip(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments) {
    return write_arguments(make_args(plan, step.extent, call, division_of(plan.product, *config_of(step))), arguments);
}

}  // namespace tmm
