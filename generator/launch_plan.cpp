#include "generator/launch_plan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "tmm/rules.h"

namespace tmm {
namespace {

// Of partial results, which are floats.
constexpr std::int64_t kPartialBytes = 4;
// The widest access of a thread.
constexpr int kVectorBytes = 16;

std::int64_t k_per_split(const GemmProblem& problem, const KernelConfig& config) {
    const std::int64_t share = (problem.k + config.split_k - 1) / config.split_k;
    return (share + config.block_k - 1) / config.block_k * config.block_k;
}

// Elements from a matrix's start to the part of it that belongs to an extent.
std::int64_t offset_a(const GemmProblem& problem, const Extent& extent) {
    return problem.op_a == Operation::none ? extent.row0 * problem.lda : extent.row0;
}
std::int64_t offset_b(const GemmProblem& problem, const Extent& extent) {
    return problem.op_b == Operation::none ? extent.column0 : extent.column0 * problem.ldb;
}
std::int64_t offset_c(const GemmProblem& problem, const Extent& extent) {
    return extent.row0 * problem.ldc + extent.column0;
}

// What is left of a declared alignment so many elements further on.
int alignment_at(int alignment, std::int64_t offset, ElementType type) {
    while (alignment > size_of(type) && offset * size_of(type) % alignment != 0) alignment /= 2;
    return alignment;
}

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

struct PlanesOperands {
    planes::Operand a;
    planes::Operand b;
};
// config: the plan's.
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

std::size_t bind_pack(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    return write(make_args(step, problem, call), arguments);
}

// Where the step leaves sums for another to add up.
GemmArgs with_partials(GemmArgs args, const LaunchStep& step, const GemmCall& call) {
    if (partial_results(step.config) > 1 || step.line.blocks > 0) args.workspace = at(call.workspace, step.partials_offset);
    return args;
}

// Where a pad step has left the operands.
GemmArgs with_padded(GemmArgs args, const LaunchStep& step, const GemmProblem& problem, const GemmCall& call) {
    std::int64_t offset = 0;
    const auto take = [&](const void*& matrix, i64& ld, i64& stride, const pad::Shape& shape, ElementType type) {
        matrix = at(call.workspace, offset);
        ld = pad::padded_ld(shape.columns, type);
        stride = problem.batch > 1 ? shape.rows * ld : 0;
        offset += pad::padded_bytes(shape.rows, shape.columns, problem.batch, type);
    };
    if (pad::pads_a(step.config)) take(args.a, args.lda, args.stride_a, pad::copy_of_a(problem), problem.type_a);
    if (pad::pads_b(step.config)) take(args.b, args.ldb, args.stride_b, pad::copy_of_b(problem), problem.type_b);
    return with_partials(args, step, call);
}

struct SplitOperands {
    PlanesOperand a;
    PlanesOperand b;
    UnfitMarks unfit_a;
    UnfitMarks unfit_b;
};
// Where the product finds the operands: each prepared, or in its part of the workspace.
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

std::size_t bind_planes(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    PlanesArgs args;
    static_cast<GemmArgs&>(args) = make_split_args(step, problem, call);
    const SplitOperands split = split_operands(step, problem, call);
    if (!call.prepared_a) args.planes_a = split.a;
    if (!call.prepared_b) args.planes_b = split.b;
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

std::size_t bind_rescue(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    RescueArgs args;
    static_cast<GemmArgs&>(args) = with_partials(make_args(step, problem, call), step, call);
    const SplitOperands split = split_operands(step, problem, call);
    args.unfit_a = split.unfit_a;
    args.unfit_b = split.unfit_b;
    return write(args, arguments);
}

// The operands are their planes.
WgmmaArgs make_product_of_planes_args(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call) {
    const SplitOperands split = split_operands(step, problem, call);
    const PlanesOperands operands = planes_operands(problem, step.plan_config);
    const planes::Operand& a = operands.a;
    const planes::Operand& b = operands.b;
    const ElementType type = planes::type_of(step.plan_config.planes);
    WgmmaArgs args;
    static_cast<GemmArgs&>(args) = with_partials(make_args(step, problem, call), step, call);
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
    if (step.config.family == family::wgmma) return with_padded(args, step, problem, call);
    std::int64_t packed = 0;
    if (pack::packs_a(step.config)) {
        args.a = at(call.workspace, 0);
        args.lda = packed_ld(args.m);
        args.stride_a = args.lda * problem.k;
        packed = pack::packed_elements(args.m, problem.k, problem.batch) * size_of(problem.type_a);
    }
    if (pack::packs_b(step.config)) {
        args.b = at(call.workspace, packed);
        args.ldb = packed_ld(args.n);
        args.stride_b = args.ldb * problem.k;
    }
    return with_partials(args, step, call);
}

std::size_t bind_product(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    return write(make_product_args(step, problem, call), arguments);
}

std::size_t bind_wgmma(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    if (step.plan_config.planes > 1) return write(make_product_of_planes_args(step, problem, call), arguments);
    WgmmaArgs args;
    static_cast<GemmArgs&>(args) = make_product_args(step, problem, call);
    return write(args, arguments);
}

TensorMapRequests wgmma_tensor_maps(const LaunchStep& step, const std::byte* arguments) {
    WgmmaArgs args;
    std::memcpy(&args, arguments, sizeof args);
    const KernelSignature& signature = step.signature;
    const KernelConfig& config = step.config;
    const auto offset_of = [&](const TensorMap& map) {
        return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&map) - reinterpret_cast<const std::byte*>(&args));
    };
    TensorMapRequests maps;
    const auto add = [&](const TensorMapRequest& request) { maps.requests[static_cast<std::size_t>(maps.count++)] = request; };
    if (wgmma::stores_boxes(config, signature)) {
        const i64 row_bytes = args.ldc * size_of(signature.type_c);
        add({.offset = offset_of(args.result),
             .address = args.c,
             .type = signature.type_c,
             .rows = args.m,
             // There is no map of nothing; the kernel then uses none.
             .columns = std::max<i64>(wgmma::whole_chunks(args.n, signature.type_c), 16 / size_of(signature.type_c)),
             .matrices = args.batch,
             .row_bytes = row_bytes,
             .matrix_bytes = args.batch > 1 ? args.stride_c * size_of(signature.type_c) : row_bytes,
             .box_rows = wgmma::box_rows(config, signature),
             .box_columns = wgmma::box_columns(config, signature)});
    }
    if (args.k == 0) return maps;
    const auto request = [&](const void* address, ElementType type, bool transposed, i64 outer, i64 ld, i64 stride,
                             const wgmma::TileLayout& tile, int sharers) {
        const i64 row_bytes = ld * size_of(type);
        // Where all of the batch share a matrix, the kernel asks for the first.
        const bool many = args.batch > 1 && stride != 0;
        const i64 rows = transposed ? args.k : outer;
        const i64 matrix_bytes = config.planes > 1 ? rows * row_bytes : many ? stride * size_of(type) : row_bytes;
        return TensorMapRequest{.address = address,
                                .type = type,
                                .rows = rows,
                                .columns = transposed ? outer : args.k,
                                .matrices = (many ? args.batch : 1) * config.planes,
                                .row_bytes = row_bytes,
                                .matrix_bytes = matrix_bytes,
                                .box_rows = wgmma::slab_rows(tile) / sharers,
                                .box_columns = wgmma::row_elements(tile)};
    };
    const bool swap = config.swap_ab != 0;
    const wgmma::TileLayout left = wgmma::left_tile(config, signature);
    const wgmma::TileLayout right = wgmma::right_tile(config, signature);
    TensorMapRequest a = request(args.a, signature.type_a, signature.op_a == Operation::transpose, args.m, args.lda, args.stride_a,
                                 swap ? right : left, swap ? config.multicast_b : config.multicast_a);
    TensorMapRequest b = request(args.b, signature.type_b, signature.op_b == Operation::none, args.n, args.ldb, args.stride_b,
                                 swap ? left : right, swap ? config.multicast_a : config.multicast_b);
    (swap ? b : a).offset = offset_of(args.left);
    (swap ? a : b).offset = offset_of(args.right);
    add(a);
    add(b);
    return maps;
}

std::size_t bind_sum_of_parts(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    GemmArgs args = make_args(step, problem, call);
    args.workspace = at(call.workspace, step.partials_offset);
    return write(args, arguments);
}

// The kernel that adds up the partial results. Where there are many, threads share an element's parts.
KernelConfig reduce_config(std::int64_t n, int parts) {
    const int sharers = parts >= 64 ? 16 : parts >= 16 ? 8 : parts >= 8 ? 4 : 1;
    const int columns = n <= 64 ? 64 : sharers == 16 ? 128 : 256;
    return KernelConfig{.family = family::reduce, .block_m = sharers, .block_n = columns, .split_k = parts};
}

// The kernel that adds up the parts of tiles that the config's blocks share.
KernelConfig fixup_config(const KernelConfig& config) {
    return KernelConfig{.family = family::fixup,
                        .block_m = config.block_m,
                        .block_n = config.block_n,
                        .block_k = config.block_k,
                        .raster = config.raster,
                        .stream_k = config.stream_k};
}

// For `few` rows or columns of `many` elements, by blocks of 8 x 32 threads. A thread takes more than one of the many only where
// enough blocks are left to fill a device.
KernelConfig edge_config(std::int64_t few, std::int64_t many, std::int64_t batch, ElementType type, bool swap) {
    constexpr int threads_n = 8;
    constexpr std::int64_t blocks_wanted = 128;
    int rows = 1;
    while (rows < few) rows *= 2;
    int thread_n = 4;
    while (thread_n > 1 && (rows * thread_n > 32 || many * batch < blocks_wanted * threads_n * thread_n)) thread_n /= 2;
    KernelConfig config{.family = family::gemv,
                        .block_m = rows,
                        .block_n = threads_n * thread_n,
                        .thread_n = thread_n,
                        .stages = 2,
                        .vector_width = kVectorBytes / size_of(type),
                        .boundary = boundary::peeled,
                        .swap_ab = swap ? 1 : 0};
    config.block_k = 32 * gemv::k_step(config);
    return config;
}

// Those that follow a copy of the operands, whose blocks leave room beside them.
bool follows_a_copy(int family) {
    return family == family::wgmma || family == family::rescue;
}

// Serves every problem that planes do, at a good part of the speed that FP32 FMAs have. A thread holds each sum twice, so its part of the
// tile is small: with 235 registers a thread finding nothing to do took 2.5 us longer than with 140 or 204 (1024 cubed on an H200).
constexpr KernelConfig kRescue{.family = family::rescue,
                               .block_m = 64,
                               .block_n = 64,
                               .block_k = 16,
                               .thread_m = 8,
                               .thread_n = 4,
                               .stages = 3,
                               .async_copy = 1,
                               .vector_width = 4,
                               .boundary = boundary::peeled,
                               .min_blocks = 3};

}  // namespace

std::int64_t planes_workspace_bytes(const GemmProblem& problem, const KernelConfig& config) {
    const PlanesOperands operands = planes_operands(problem, config);
    return planes::operand_bytes(operands.a, config.planes) + planes::operand_bytes(operands.b, config.planes);
}

std::int64_t prepared_bytes(const LaunchPlan& plan, GemmOperand operand) {
    if (plan.config.planes <= 1 || plan.steps.empty()) return 0;
    const PlanesOperands operands = planes_operands(plan.problem, plan.config);
    return planes::operand_bytes(operand == GemmOperand::a ? operands.a : operands.b, plan.config.planes);
}

std::size_t main_step(const LaunchPlan& plan) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i)
        if (plan.steps[i].config.family == plan.config.family) return i;
    return 0;
}

PhaseLine phase_line_on(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device) {
    const Extent extent = main_extent(problem, config);
    const std::int64_t tiles = blocks(config, extent.rows, extent.columns, problem.batch);
    const std::int64_t slots = std::int64_t{std::max(1, device.sm_count)} * config.min_blocks;
    const std::int64_t shared = config.stream_k != 0 ? tiles_to_share(tiles, slots) : 0;
    const std::int64_t phases = phases_of_tile(config, problem.k);
    if (shared == 0) return PhaseLine{.phases = phases, .tiles = 0, .blocks = 0};
    return PhaseLine{.phases = phases, .tiles = shared, .blocks = sharing_blocks(shared, phases, slots)};
}

std::int64_t stream_workspace_bytes(const PhaseLine& line, const KernelConfig& config) {
    return parts_of_blocks(line.blocks) * config.block_m * config.block_n * kPartialBytes;
}

Extent main_extent(const GemmProblem& problem, const KernelConfig& config) {
    if (config.trim == 0) return Extent{.rows = problem.m, .columns = problem.n};
    return Extent{.rows = problem.m / config.block_m * config.block_m, .columns = problem.n / config.block_n * config.block_n};
}

std::vector<EdgeProduct> edge_products(const GemmProblem& problem, const KernelConfig& config) {
    const auto [row0, column0, m0, n0] = main_extent(problem, config);
    std::vector<EdgeProduct> edges;
    const auto add = [&](const KernelConfig& kernel, const Extent& extent) {
        KernelSignature signature = signature_of(problem);
        signature.align_a = alignment_at(signature.align_a, offset_a(problem, extent), problem.type_a);
        signature.align_b = alignment_at(signature.align_b, offset_b(problem, extent), problem.type_b);
        signature.align_c = alignment_at(signature.align_c, offset_c(problem, extent), problem.type_c);
        edges.push_back(EdgeProduct{.signature = signature, .config = kernel, .extent = extent});
    };
    if (m0 < problem.m)
        add(edge_config(problem.m - m0, problem.n, problem.batch, problem.type_a, false),
            Extent{.row0 = m0, .rows = problem.m - m0, .columns = problem.n});
    if (n0 < problem.n)
        add(edge_config(problem.n - n0, m0, problem.batch, problem.type_a, true),
            Extent{.column0 = n0, .rows = m0, .columns = problem.n - n0});
    return edges;
}

KernelSignature main_signature(const GemmProblem& problem, const KernelConfig& config) {
    KernelSignature signature = signature_of(problem);
    if (config.family == family::pack || config.family == family::pad) return signature;
    if (config.family == family::wgmma) {
        if (config.planes > 1) {
            signature.type_a = signature.type_b = planes::type_of(config.planes);
            signature.align_a = signature.align_b = 16;
        }
        if (pad::pads_a(config)) signature.align_a = 16;
        if (pad::pads_b(config)) signature.align_b = 16;
        if (pad::turns_a(config, signature)) signature.op_a = Operation::none;
        if (pad::turns_b(config, signature)) signature.op_b = Operation::transpose;
        return signature;
    }
    if (pack::packs_a(config)) {
        signature.op_a = Operation::transpose;
        signature.align_a = 16;
    }
    if (pack::packs_b(config)) {
        signature.op_b = Operation::none;
        signature.align_b = 16;
    }
    return signature;
}

namespace {

struct Padding {
    std::int64_t blocks = 1;
    std::int64_t bytes = 0;
};
Padding padding(const GemmProblem& problem, const KernelConfig& config) {
    const KernelSignature signature = signature_of(problem);
    std::int64_t pieces = 0;
    std::int64_t squares = 0;
    Padding padding;
    const auto add = [&](const pad::Shape& shape, bool turned, ElementType type) {
        if (turned)
            squares += pack::tiles(shape.rows, shape.columns, problem.batch);
        else
            pieces += pad::pieces(shape.rows, shape.columns, problem.batch, type);
        padding.bytes += pad::padded_bytes(shape.rows, shape.columns, problem.batch, type);
    };
    if (pad::pads_a(config)) add(pad::copy_of_a(problem), pad::turns_a(config, signature), problem.type_a);
    if (pad::pads_b(config)) add(pad::copy_of_b(problem), pad::turns_b(config, signature), problem.type_b);
    padding.blocks = pad::blocks(pieces, squares);
    return padding;
}

// wgmma's blocks walk over the work, but for those of a cluster that sums parts of K: they end together.
bool walks(const KernelConfig& config) {
    return config.family == family::wgmma && config.cluster == 1;
}
// As many of those that walk as the device's SMs hold at once.
std::int64_t grid_of(const KernelConfig& config, std::int64_t m, std::int64_t n, std::int64_t batch, const DeviceInfo& device) {
    const std::int64_t all = blocks(config, m, n, batch);
    if (!walks(config) || device.sm_count == 0) return all;
    const std::int64_t size = cluster_size(config);
    const std::int64_t held = std::int64_t{device.sm_count} * config.min_blocks;
    return std::min(all, std::max<std::int64_t>(1, held / size) * size);
}

}  // namespace

LaunchPlan make_launch_plan(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device) {
    LaunchPlan plan{.problem = problem, .config = config, .steps = {}, .workspace_bytes = 0};
    if (problem.m == 0 || problem.n == 0 || problem.batch == 0) return plan;
    const Extent extent = main_extent(problem, config);
    const auto [m, n, k, batch] = std::array{extent.rows, extent.columns, std::int64_t{problem.k}, std::int64_t{problem.batch}};

    const auto add = [&](const KernelSignature& signature, const KernelConfig& kernel, const Extent& part, std::int64_t grid,
                         std::int64_t partials_offset, auto bind) {
        plan.steps.push_back(LaunchStep{.signature = signature,
                                        .config = kernel,
                                        .extent = part,
                                        .grid = grid,
                                        .threads = threads(kernel),
                                        .cluster = cluster_size(kernel),
                                        .shared_bytes = shared_bytes(kernel, signature),
                                        .partials_offset = partials_offset,
                                        .plan_config = config,
                                        .bind = bind});
    };

    if (config.pack_ab != 0 && config.family == family::wgmma) {
        const KernelConfig copy{.family = family::pad, .pack_ab = config.pack_ab};
        const auto [blocks_wanted, bytes] = padding(problem, config);
        add(signature_of(problem), copy, extent, blocks_wanted, 0, bind_pack);
        plan.workspace_bytes += bytes;
    } else if (config.pack_ab != 0) {
        const KernelConfig copy{.family = family::pack, .pack_ab = config.pack_ab};
        add(signature_of(problem), copy, extent, pack::blocks(copy, m, n, k, batch), 0, bind_pack);
        if (pack::packs_a(config)) plan.workspace_bytes += pack::packed_elements(m, k, batch) * size_of(problem.type_a);
        if (pack::packs_b(config)) plan.workspace_bytes += pack::packed_elements(n, k, batch) * size_of(problem.type_b);
    }
    if (config.planes > 1) {
        const PlanesOperands operands = planes_operands(problem, config);
        const i64 depth = std::min<i64>(k_per_split(problem, config), problem.k);
        const int sharers = planes::cluster_for(depth);
        const int slots = planes::slots_for(depth);
        const KernelConfig split{.family = family::planes,
                                 .stages = slots,
                                 .vector_width = 4,
                                 .split_k = sharers,
                                 .min_blocks = planes::blocks_per_sm(slots),
                                 .cluster = sharers,
                                 .planes = config.planes};
        add(signature_of(problem), split, extent, planes::blocks(split, planes::items(operands.a) + planes::items(operands.b)), 0,
            bind_planes);
        plan.steps.back().bind_preparation = bind_preparation;
        plan.steps.back().busy_blocks = busy_blocks;
        plan.workspace_bytes += planes_workspace_bytes(problem, config);
    }
    const std::int64_t partials_offset = plan.workspace_bytes;
    const KernelSignature signature = main_signature(problem, config);
    const PhaseLine line = phase_line_on(problem, config, device);
    add(signature, config, extent, grid_of(config, m, n, batch, device) - line.tiles + line.blocks, partials_offset,
        config.family == family::wgmma ? bind_wgmma : bind_product);
    plan.steps.back().line = line;
    if (config.family == family::wgmma) {
        plan.steps.back().tensor_maps = wgmma_tensor_maps;
        plan.steps.back().walks = walks(config);
    }
    if (config.planes > 1) {
        KernelConfig rescue = kRescue;
        rescue.split_k = partial_results(config);
        const std::int64_t items = rescue::items(rescue, m, n, batch, rescue.split_k);
        add(signature_of(problem), rescue, extent,
            device.sm_count > 0 ? std::min(items, std::int64_t{device.sm_count} * rescue.min_blocks) : items, partials_offset, bind_rescue);
    }
    if (line.blocks > 0) {
        const KernelConfig sum = fixup_config(config);
        add(signature, sum, extent, line.tiles * fixup::blocks_per_tile(sum), partials_offset, bind_sum_of_parts);
        plan.steps.back().line = line;
        plan.workspace_bytes += stream_workspace_bytes(line, config);
    }
    if (const int parts = partial_results(config); parts > 1) {
        const KernelConfig sum = reduce_config(n, parts);
        add(signature, sum, extent, blocks(sum, m, n, batch), partials_offset, bind_sum_of_parts);
        plan.workspace_bytes += batch * parts * m * workspace_ld(n) * kPartialBytes;
    }
    for (const EdgeProduct& edge : edge_products(problem, config))
        add(edge.signature, edge.config, edge.extent, blocks(edge.config, edge.extent.rows, edge.extent.columns, batch), 0, bind_product);
    for (LaunchStep& step : plan.steps) step.begins_early = config.overlap != 0 || follows_a_copy(step.config.family);
    return plan;
}

std::int64_t depth_of_parts(const GemmProblem& problem, const KernelConfig& config) {
    return std::min<std::int64_t>(k_per_split(problem, config), problem.k);
}

std::int64_t longest_sum_of_parts(const GemmProblem& problem, const KernelConfig& config) {
    // A cluster's blocks, and fixup, add up what their additions lose as well (partial_sums.cuh): two roundings, whatever their number.
    std::int64_t chain = config.cluster > 1 || config.stream_k != 0 ? 2 : 0;
    if (const int parts = partial_results(config); parts > 1)
        chain += reduce::longest_chain(reduce_config(main_extent(problem, config).columns, parts), parts);
    return chain;
}

std::int64_t longest_rounding_chain(const GemmProblem& problem, const KernelConfig& config) {
    std::int64_t chain = config.split_k > 1 ? depth_of_parts(problem, config) : problem.k;
    if (config.family == family::gemv) chain = gemv::longest_chain(config, chain);
    if (config.family == family::wgmma)
        chain = config.planes > 1 ? wgmma::longest_chain_of_planes(config, chain)
                                  : wgmma::longest_chain(main_signature(problem, config), chain);
    if (config.family == family::mma) chain = mma::longest_chain(chain);
    chain += longest_sum_of_parts(problem, config);
    for (const EdgeProduct& edge : edge_products(problem, config))
        chain = std::max<std::int64_t>(chain, gemv::longest_chain(edge.config, problem.k));
    return chain;
}

}  // namespace tmm
