#include "generator/plan/launch_arguments.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "generator/families/family.h"
#include "tmm/families/simt/rules.h"
#include "tmm/families/skinny/rules.h"
#include "tmm/families/wgmma/rules.h"
#include "tmm/steps/pack/rules.h"
#include "tmm/steps/pad/rules.h"
#include "tmm/steps/planes/rules.h"
#include "tmm/steps/rescue/rules.h"

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

namespace {

// Null pointers, which are allowed where nothing is read, stay null.
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
                    .stream_tiles = step.line.tiles,
                    .alpha = product ? call.alpha : 0.0,
                    .beta = call.beta};
}

std::byte* at(void* workspace, std::int64_t offset) {
    return static_cast<std::byte*>(workspace) + offset;
}

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

template <class Args>
std::size_t write(const Args& args, std::byte* arguments) {
    static_assert(sizeof args <= kMaxArgumentBytes);
    std::memcpy(arguments, &args, sizeof args);
    return sizeof args;
}

// Adds the place where the step leaves sums for another step to add up.
GemmArgs with_partials(GemmArgs args, const LaunchStep& step, const GemmCall& call) {
    if (partial_results(step.config) > 1 || step.line.blocks > 0) args.workspace = at(call.workspace, step.partials_offset);
    return args;
}

// The call with the operands that a pad step has left in the workspace.
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

struct SplitOperands {
    PlanesOperand a;
    PlanesOperand b;
    UnfitMarks unfit_a;
    UnfitMarks unfit_b;
};
// Where the product finds the operands: each is prepared, or in its part of the workspace.
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

// Operands are split in the parts of K that are multiplied apart.
GemmArgs make_split_args(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call) {
    GemmArgs args = make_args(step, problem, call);
    args.k_per_split = k_per_split(problem, step.plan_config);
    args.split_k = step.plan_config.split_k;
    return args;
}

WgmmaArgs with_grid(const GemmArgs& args, const KernelConfig& config) {
    WgmmaArgs wgmma;
    static_cast<GemmArgs&>(wgmma) = args;
    wgmma.grid = tile_grid(wgmma::clusters_left(config, args.m, args.n), wgmma::clusters_right(config, args.m, args.n), args.raster);
    return wgmma;
}

// The operands are their planes.
WgmmaArgs make_product_of_planes_args(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call) {
    const SplitOperands split = split_operands(step, problem, call);
    const PlanesOperands operands = planes_operands(problem, step.plan_config);
    const planes::Operand& a = operands.a;
    const planes::Operand& b = operands.b;
    const ElementType type = planes::type_of(step.plan_config.planes);
    WgmmaArgs args = with_grid(with_partials(make_args(step, problem, call), step, call), step.config);
    args.a = split.a.planes;
    args.b = split.b.planes;
    args.lda = pad::padded_ld(a.columns, type);
    args.ldb = pad::padded_ld(b.columns, type);
    args.stride_a = a.matrices > 1 ? step.plan_config.planes * a.rows * args.lda : 0;
    args.stride_b = b.matrices > 1 ? step.plan_config.planes * b.rows * args.ldb : 0;
    const bool swap = step.config.swap_ab != 0;
    args.exponents_left = (swap ? split.b : split.a).exponents;
    args.exponents_right = (swap ? split.a : split.b).exponents;
    args.unfit_a = split.unfit_a;
    args.unfit_b = split.unfit_b;
    return args;
}

GemmArgs make_product_args(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call) {
    GemmArgs args = make_args(step, problem, call);
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
    return with_partials(args, step, call);
}

// The counters stand in the workspace, behind the packed operands.
unsigned* counters_of_packers(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call) {
    const i64 packed = pack::workspace_elements(step.plan_config, step.extent.rows, step.extent.columns, problem.k, problem.batch);
    return reinterpret_cast<unsigned*>(at(call.workspace, packed * size_of(problem.type_a)));
}

// The strip of columns of C that is multiplied while A is packed, or that of rows, multiplied while B is. Its few lines stand behind the
// product's part of the other operand.
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

}  // namespace

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
    return write(args, arguments);
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
    return write(args, arguments);
}

std::size_t bind_planes(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    PlanesArgs args;
    static_cast<GemmArgs&>(args) = make_split_args(step, problem, call);
    const SplitOperands split = split_operands(step, problem, call);
    if (!call.prepared_a) args.planes_a = split.a;
    if (!call.prepared_b) args.planes_b = split.b;
    return write(args, arguments);
}

std::size_t bind_product(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    return write(make_product_args(step, problem, call), arguments);
}

std::size_t bind_wgmma(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    if (step.plan_config.planes > 1) return write(make_product_of_planes_args(step, problem, call), arguments);
    const GemmProblem padded = padded_problem(problem, step.config);
    const GemmArgs args = with_partials(make_args(step, padded, padded_call(problem, step.config, call)), step, call);
    return write(with_grid(args, step.config), arguments);
}

std::size_t bind_simt_tma(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    SimtTmaArgs args;
    static_cast<GemmArgs&>(args) = make_product_args(step, problem, call);
    if (pack::packs_beside(step.config)) {
        const GemmArgs as_it_lies = make_args(step, problem, call);
        const KernelSignature signature = signature_of(problem);
        args.packers = {.blocks = step.packing.packers,
                        .first_row = step.packing.first_row,
                        .a = static_cast<const float*>(as_it_lies.a),
                        .b = static_cast<const float*>(as_it_lies.b),
                        .lda = problem.lda,
                        .ldb = problem.ldb,
                        .turned_a = problem.op_a == Operation::none,
                        .turned_b = problem.op_b == Operation::transpose,
                        .vectors_a = problem.op_a == Operation::none && signature.align_a >= 16,
                        .vectors_b = problem.op_b == Operation::transpose && signature.align_b >= 16,
                        .packed_a = static_cast<float*>(const_cast<void*>(args.a)),
                        .packed_b = static_cast<float*>(const_cast<void*>(args.b)),
                        .squares = counters_of_packers(step, problem, call)};
    }
    args.strips = {.blocks = step.blocks_for_strips,
                   .with_a = packed_strip(step, problem, call, true),
                   .with_b = packed_strip(step, problem, call, false)};
    return write(args, arguments);
}

std::size_t bind_skinny(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    SkinnyArgs args;
    static_cast<GemmArgs&>(args) = make_product_args(step, problem, call);
    return write(args, arguments);
}

std::size_t bind_rescue(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    RescueArgs args;
    static_cast<GemmArgs&>(args) = with_partials(make_args(step, problem, call), step, call);
    const SplitOperands split = split_operands(step, problem, call);
    args.unfit_a = split.unfit_a;
    args.unfit_b = split.unfit_b;
    return write(args, arguments);
}

std::size_t bind_sum_of_parts(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    GemmArgs args = make_args(step, problem, call);
    args.workspace = at(call.workspace, step.partials_offset);
    return write(args, arguments);
}

std::size_t bind_preparation(const LaunchStep& step, const GemmProblem& problem, const Preparation& preparation, std::byte* arguments) {
    const bool of_a = preparation.operand == GemmOperand::a;
    const PlanesOperands operands = planes_operands(problem, step.plan_config);
    PlanesArgs args;
    static_cast<GemmArgs&>(args) = make_split_args(step, problem, GemmCall{});
    (of_a ? args.a : args.b) = preparation.matrix;
    (of_a ? args.planes_a : args.planes_b) = planes_at(preparation.prepared, of_a ? operands.a : operands.b, step.plan_config.planes);
    return write(args, arguments);
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
