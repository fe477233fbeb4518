#include "generator/launch_plan.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "generator/launch_arguments.h"
#include "generator/tensor_maps.h"
#include "tmm/rules.h"

namespace tmm {
namespace {

// Of partial results, which are floats.
constexpr std::int64_t kPartialBytes = 4;
// The widest access of a thread.
constexpr int kVectorBytes = 16;
// Of a kernel that has little to do: about one for each SM of a large GPU.
constexpr std::int64_t kBlocksWanted = 128;

// What is left of a declared alignment so many elements further on.
int alignment_at(int alignment, std::int64_t offset, ElementType type) {
    while (alignment > size_of(type) && offset * size_of(type) % alignment != 0) alignment /= 2;
    return alignment;
}

// The kernel that adds up the partial results. Where there are many, threads share an element's parts, the more the fewer elements.
KernelConfig reduce_config(const GemmProblem& problem, const KernelConfig& config) {
    const Extent extent = main_extent(problem, config);
    const std::int64_t rows = extent.rows * problem.batch;
    const int parts = partial_results(config);
    int sharers = parts >= 64 ? 16 : parts >= 16 ? 8 : parts >= 8 ? 4 : 1;
    int columns = extent.columns <= 64 ? 64 : sharers == 16 ? 128 : 256;
    while (columns > 16 && columns / reduce::kVector * sharers > 32 && rows * ((extent.columns + columns - 1) / columns) < kBlocksWanted) {
        columns /= 2;
        if (sharers < 32 && 16 * sharers <= parts) sharers *= 2;
    }
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

// For a strip of C, a few rows or, swapped, columns of many elements, by small blocks, of which several find room where the product leaves
// that of one of its own. A thread takes more than one of the many only where enough blocks are left to fill a device. Where each k of the
// few is a line of memory of its own while the many run along K, what a warp reads of the few costs more than the rest, and is to serve as
// many as can be.
KernelConfig edge_config(const Extent& extent, std::int64_t batch, const KernelSignature& signature, bool swap) {
    KernelConfig config{.family = family::gemv,
                        .vector_width = kVectorBytes / size_of(signature.type_a),
                        .boundary = boundary::peeled,
                        .swap_ab = swap ? 1 : 0,
                        .trim = 1};
    const bool few_are_scattered = gemv::many_along_k(config, signature) && !gemv::few_along_k(config, signature);
    const int threads_n = few_are_scattered ? 2 : 4;
    const std::int64_t few = few_count(config, extent.rows, extent.columns);
    const std::int64_t many = many_count(config, extent.rows, extent.columns) * batch;
    while (config.block_m < few) config.block_m *= 2;
    config.thread_n = 4;
    while (config.thread_n > 1 && (config.block_m * config.thread_n > 32 || many < kBlocksWanted * threads_n * config.thread_n))
        config.thread_n /= 2;
    config.block_n = threads_n * config.thread_n;
    config.block_k = 32 * gemv::k_step(config);
    config.stages = few_are_scattered ? 1 : 2;
    return config;
}

// Those that follow a copy of the operands, or sum parts up: of the two that meet, one's blocks leave room for the other's.
bool leaves_room(int family) {
    return family == family::wgmma || family == family::rescue || family == family::reduce || family == family::fixup;
}

// Few enough rows or columns to be trimmed: a gemv kernel holds them all.
constexpr int kMostTrimmed = 16;

// Are there whole tiles of `block` rows, or columns, and few enough beside them?
bool leaves_a_strip(std::int64_t size, int block) {
    return size > block && size % block >= 1 && size % block <= kMostTrimmed;
}

// Strips run beside the product that leaves them.
bool is_strip(const LaunchStep& step) {
    return step.config.family == family::gemv && gemv::is_strip(step.config);
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

TileOfC tile_of_c(const KernelConfig& config) {
    if (config.swap_ab != 0) return {.rows = config.block_n, .columns = config.block_m};
    return {.rows = config.block_m, .columns = config.block_n};
}

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

std::optional<std::string> why_not_trimmed(const GemmProblem& p, const KernelConfig& config) {
    const auto [rows, columns] = tile_of_c(config);
    if (leaves_strips_to_pack(config) && !packed_strips(p, config).any())
        return fmt::format("trim=2 takes 1 to {} rows beyond whole tiles where B is packed before the product, or columns where A is",
                           pack::kMostStripLines);
    if (leaves_a_strip(p.m, rows) || leaves_a_strip(p.n, columns)) return std::nullopt;
    if (p.m < rows && p.n < columns) return fmt::format("trim needs a whole tile of {} rows or {} columns", rows, columns);
    if (p.m % rows == 0 && p.n % columns == 0) return fmt::format("tiles of {} x {} leave nothing to trim", rows, columns);
    return fmt::format("tiles of {} x {} leave {} rows and {} columns; trim takes 1 to {} of either", rows, columns, p.m % rows,
                       p.n % columns, kMostTrimmed);
}

Extent main_extent(const GemmProblem& problem, const KernelConfig& config) {
    const auto covered = [&](std::int64_t size, int block) {
        return config.trim != 0 && leaves_a_strip(size, block) ? size - size % block : size;
    };
    const auto [rows, columns] = tile_of_c(config);
    return Extent{.rows = covered(problem.m, rows), .columns = covered(problem.n, columns)};
}

std::vector<EdgeProduct> edge_products(const GemmProblem& problem, const KernelConfig& config) {
    const auto [row0, column0, m0, n0] = main_extent(problem, config);
    std::vector<EdgeProduct> edges;
    const auto add = [&](const Extent& extent, bool swap) {
        KernelSignature signature = signature_of(problem);
        signature.align_a = alignment_at(signature.align_a, offset_a(problem, extent), problem.type_a);
        signature.align_b = alignment_at(signature.align_b, offset_b(problem, extent), problem.type_b);
        signature.align_c = alignment_at(signature.align_c, offset_c(problem, extent), problem.type_c);
        edges.push_back(
            EdgeProduct{.signature = signature, .config = edge_config(extent, problem.batch, signature, swap), .extent = extent});
    };
    const PackedStrips packed = packed_strips(problem, config);
    // What is packed has no corner.
    const i64 rows = packed.rows > 0 ? problem.m : m0;
    if (m0 < problem.m && packed.rows == 0) add(Extent{.row0 = m0, .rows = problem.m - m0, .columns = problem.n}, false);
    if (n0 < problem.n && packed.columns == 0) add(Extent{.column0 = n0, .rows = rows, .columns = problem.n - n0}, true);
    return edges;
}

KernelSignature main_signature(const GemmProblem& problem, const KernelConfig& config) {
    if (config.family == family::wgmma) {
        KernelSignature signature = signature_of(padded_problem(problem, config));
        if (config.planes > 1) {
            signature.type_a = signature.type_b = planes::type_of(config.planes);
            signature.align_a = signature.align_b = 16;
        }
        if (pad::pads_a(config)) signature.align_a = 16;
        if (pad::pads_b(config)) signature.align_b = 16;
        return signature;
    }
    KernelSignature signature = signature_of(problem);
    if (config.family == family::pack || config.family == family::pad) return signature;
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
            squares += pack::tiles(shape.columns, shape.rows, problem.batch);
        else
            pieces += pad::cut(shape.rows, shape.columns * size_of(type) / 2, problem.batch, 0, 0).pieces;
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
    const Extent whole{.rows = problem.m, .columns = problem.n};
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

    const PackingBeside packing = packing_beside(problem, config, device);
    const PackedStrips strips = packed_strips(problem, config);
    const int strip_blocks = blocks_for_strips(problem, config, device);
    StripSums sums;
    if (config.pack_ab != 0 && config.family == family::wgmma) {
        const KernelConfig copy{.family = family::pad, .min_blocks = pad::kBlocksPerSm, .pack_ab = config.pack_ab};
        const auto [blocks_wanted, bytes] = padding(problem, config);
        add(signature_of(problem), copy, whole, blocks_wanted, 0, bind_pad);
        plan.workspace_bytes += bytes;
    } else if (config.pack_ab != 0) {
        const KernelConfig copy{.family = family::pack,
                                .min_blocks = pack::kBlocksPerSm,
                                .pack_ab = pack::packed_operands(config),
                                .trim = strips.any() ? 1 : 0};
        const i64 depth = pack::packs_beside(config) ? std::min<i64>(k, i64{packing.first_row} * pack::kTile) : k;
        add(signature_of(problem), copy, extent, pack::blocks(copy, m, n, depth, batch), 0, bind_pack);
        plan.steps.back().packing = packing;
        plan.workspace_bytes += pack::workspace_elements(config, m, n, k, batch) * size_of(problem.type_a);
        if (pack::packs_beside(config)) plan.workspace_bytes += pack::kCounterBytes;
        sums = strip_sums(problem, config, plan.workspace_bytes);
        plan.workspace_bytes = sums.end;
        plan.steps.back().strips = strips;
        plan.steps.back().strip_sums = sums;
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
    add(signature, config, extent, grid_of(config, m, n, batch, device) - line.tiles + line.blocks + packing.packers + strip_blocks,
        partials_offset,
        config.family == family::wgmma    ? bind_wgmma
        : config.family == family::skinny ? bind_skinny
        : is_brought_by_tma(config)       ? bind_simt_tma
                                          : bind_product);
    plan.steps.back().line = line;
    plan.steps.back().packing = packing;
    plan.steps.back().strips = strips;
    plan.steps.back().strip_sums = sums;
    plan.steps.back().blocks_for_strips = strip_blocks;
    if (config.family == family::wgmma) {
        plan.steps.back().tensor_maps = wgmma_tensor_maps;
        plan.steps.back().walks = walks(config);
    }
    if (config.family == family::skinny) plan.steps.back().tensor_maps = skinny_tensor_maps;
    if (config.family == family::simt && is_brought_by_tma(config)) plan.steps.back().tensor_maps = simt_tensor_maps;
    for (const EdgeProduct& edge : edge_products(problem, config))
        add(edge.signature, edge.config, edge.extent, blocks(edge.config, edge.extent.rows, edge.extent.columns, batch), 0, bind_product);
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
        const KernelConfig sum = reduce_config(problem, config);
        add(signature, sum, extent, blocks(sum, m, n, batch), partials_offset, bind_sum_of_parts);
        plan.workspace_bytes += batch * parts * m * workspace_ld(n) * kPartialBytes;
    }
    for (LaunchStep& step : plan.steps) step.begins_early = config.overlap != 0 || leaves_room(step.config.family) || is_strip(step);
    return plan;
}

std::int64_t depth_of_parts(const GemmProblem& problem, const KernelConfig& config) {
    return std::min<std::int64_t>(k_per_split(problem, config), problem.k);
}

std::int64_t longest_sum_of_parts(const GemmProblem& problem, const KernelConfig& config) {
    // A cluster's blocks, and fixup, add up what their additions lose as well (partial_sums.cuh): two roundings, whatever their number.
    std::int64_t chain = config.cluster > 1 || config.stream_k != 0 ? 2 : 0;
    if (const int parts = partial_results(config); parts > 1) chain += reduce::longest_chain(reduce_config(problem, config), parts);
    return chain;
}

std::int64_t blocks_that_add_parts(const GemmProblem& problem, const KernelConfig& config) {
    if (partial_results(config) <= 1) return 0;
    const Extent extent = main_extent(problem, config);
    return blocks(reduce_config(problem, config), extent.rows, extent.columns, problem.batch);
}

std::int64_t longest_rounding_chain(const GemmProblem& problem, const KernelConfig& config) {
    std::int64_t chain = config.split_k > 1 ? depth_of_parts(problem, config) : problem.k;
    if (config.family == family::gemv) chain = gemv::longest_chain(config, chain);
    if (config.family == family::wgmma)
        chain = config.planes > 1 ? wgmma::longest_chain_of_planes(config, chain)
                                  : wgmma::longest_chain(main_signature(problem, config), chain);
    if (config.family == family::mma) chain = mma::longest_chain(chain);
    if (config.family == family::skinny) chain = skinny::longest_chain(config, chain);
    chain += longest_sum_of_parts(problem, config);
    if (packed_strips(problem, config).any())
        chain = std::max<std::int64_t>(chain, strips::longest_chain(std::max(1, threads(config) / 32), problem.k));
    for (const EdgeProduct& edge : edge_products(problem, config))
        chain = std::max<std::int64_t>(chain, gemv::longest_chain(edge.config, problem.k));
    return chain;
}

}  // namespace tmm
