#include "generator/steps/arguments.h"

#include <algorithm>
#include <iterator>

namespace tmm {
namespace {

const void* advanced(const void* pointer, std::int64_t elements, ElementType type) {
    return pointer ? static_cast<const std::byte*>(pointer) + elements * size_of(type) : nullptr;
}

}  // namespace

std::int64_t offset_a(const GemmProblem& problem, const Extent& extent) {
    return problem.op_a == Operation::none ? extent.row0 * problem.lda : extent.row0;
}
std::int64_t offset_b(const GemmProblem& problem, const Extent& extent) {
    return problem.op_b == Operation::none ? extent.column0 : extent.column0 * problem.ldb;
}
std::int64_t offset_c(const GemmProblem& problem, const Extent& extent) {
    return extent.row0 * problem.ldc + extent.column0;
}

Addresses addresses_of(const Schedule& schedule, const GemmCall& call, const Extent& part) {
    const GemmProblem& problem = schedule.product;
    const WorkspaceParts& parts = schedule.workspace;
    const auto at = [&](std::int64_t offset) { return static_cast<std::byte*>(call.workspace) + offset; };
    return {.a = advanced(call.a, offset_a(problem, part), problem.type_a),
            .b = advanced(call.b, offset_b(problem, part), problem.type_b),
            .c = static_cast<std::byte*>(call.c) + offset_c(problem, part) * size_of(problem.type_c),
            .copy_of_a = call.prepared_a ? const_cast<void*>(call.prepared_a) : call.workspace,
            .copy_of_b = call.prepared_b ? const_cast<void*>(call.prepared_b) : at(parts.copy_of_b),
            .counters = reinterpret_cast<unsigned*>(at(parts.counters)),
            .sums_of_columns = at(parts.sums_of_columns),
            .sums_of_rows = at(parts.sums_of_rows),
            .partials = at(parts.partials)};
}

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

GemmArgs make_args(const Schedule& schedule, const Extent& part, const GemmCall& call, const Division& division) {
    const GemmProblem& problem = schedule.product;
    const Addresses addresses = addresses_of(schedule, call, part);
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

GemmArgs product_args(const Schedule& schedule, const GemmCall& call) {
    const Addresses addresses = addresses_of(schedule, call, schedule.main);
    GemmArgs args = make_args(
        schedule, schedule.main, call,
        {.split_k = schedule.config.split_k, .k_per_split = schedule.k_per_split, .raster = schedule.config.raster, .line = schedule.line});
    const auto read_copy = [](const OperandCopy& copy, const void* place, const void*& operand, i64& ld, i64& stride) {
        if (!copy.is_made) return;
        operand = place;
        ld = copy.ld;
        stride = copy.stride;
    };
    read_copy(schedule.copies.a, addresses.copy_of_a, args.a, args.lda, args.stride_a);
    read_copy(schedule.copies.b, addresses.copy_of_b, args.b, args.ldb, args.stride_b);
    if (leaves_partials(schedule)) args.workspace = addresses.partials;
    return args;
}

GemmArgs sum_args(const Schedule& schedule, const GemmCall& call, const Division& division) {
    GemmArgs args = make_args(schedule, schedule.main, call, division);
    args.workspace = addresses_of(schedule, call, schedule.main).partials;
    return args;
}

std::size_t bind_product(const Schedule& schedule, const LaunchStep&, const GemmCall& call, std::byte* arguments) {
    return write_arguments(product_args(schedule, call), arguments);
}

std::size_t bind_strip(const Schedule& schedule, const LaunchStep& step, const GemmCall& call, std::byte* arguments) {
    return write_arguments(make_args(schedule, step.extent, call, division_of(schedule.product, *config_of(step))), arguments);
}

}  // namespace tmm
