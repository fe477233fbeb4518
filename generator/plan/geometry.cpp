#include "generator/plan/geometry.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "generator/families/family.h"
#include "tmm/number/arithmetic.h"
#include "tmm/steps/pack/rules.h"

namespace tmm {
namespace {

// So few rows or columns may be trimmed: a gemv kernel holds them all.
constexpr int kMostTrimmed = 16;

// Are there whole tiles of `block` rows, or columns, and few enough beside them? A strip's kernel is told in an int where it begins.
bool leaves_a_strip(std::int64_t size, int block) {
    return size > block && size % block >= 1 && size % block <= kMostTrimmed && size <= std::numeric_limits<int>::max();
}

// As many of the blocks that walk as the device's SMs hold at once.
std::int64_t blocks_of_tiles(const GemmProblem& problem, const KernelConfig& config, const Extent& main, const DeviceInfo& device) {
    const std::int64_t all = blocks_of(config, main.rows, main.columns, problem.batch);
    if (!product_of(config).walks(config) || device.sm_count == 0) return all;
    const std::int64_t size = cluster_size_of(config);
    const std::int64_t held = std::int64_t{device.sm_count} * config.min_blocks;
    return std::min(all, std::max<std::int64_t>(1, held / size) * size);
}

WorkspaceParts workspace_of(const GemmProblem& problem, const KernelConfig& config, const Geometry& geometry) {
    const OperandCopies& copies = geometry.copies;
    WorkspaceParts parts;
    parts.copy_of_b = copies.a.bytes;
    parts.counters = parts.copy_of_b + copies.b.bytes + copies.past_the_last;
    parts.strip_sums = strip_sums(problem, geometry, parts.counters + copies.counter_bytes);
    parts.partials = parts.strip_sums.end;
    parts.bytes = parts.partials + stream_workspace_bytes(geometry.line, problem, config);
    if (geometry.partial_results > 1)
        parts.bytes +=
            problem.batch * geometry.partial_results * geometry.main.rows * workspace_ld(geometry.main.columns) * sum_bytes(problem);
    return parts;
}

}  // namespace

TileOfC tile_of_c(const KernelConfig& config) {
    if (config.swap_ab != 0) return {.rows = config.block_n, .columns = config.block_m};
    return {.rows = config.block_m, .columns = config.block_n};
}

PhaseLine phase_line_on(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device) {
    const Extent extent = main_extent(problem, config);
    const std::int64_t tiles = blocks_of(config, extent.rows, extent.columns, problem.batch);
    const std::int64_t slots = std::int64_t{std::max(1, device.sm_count)} * config.min_blocks;
    const std::int64_t shared = config.stream_k != 0 ? tiles_to_share(tiles, slots) : 0;
    const std::int64_t phases = phases_of_tile(config, problem.k);
    if (shared == 0) return PhaseLine{.phases = phases, .tiles = 0, .blocks = 0};
    return PhaseLine{.phases = phases, .tiles = shared, .blocks = sharing_blocks(shared, phases, slots)};
}

std::int64_t stream_workspace_bytes(const PhaseLine& line, const GemmProblem& problem, const KernelConfig& config) {
    return parts_of_blocks(line.blocks) * config.block_m * config.block_n * sum_bytes(problem);
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

Tiling tiling_of(const GemmProblem& problem, const KernelConfig& config) {
    Tiling tiling{.main = main_extent(problem, config), .below = {}, .right = {}, .packed = {}};
    tiling.packed = packed_strips(problem, config);
    const auto [m, n] = std::pair(tiling.main.rows, tiling.main.columns);
    // What is packed has no corner.
    const std::int64_t rows = tiling.packed.rows > 0 ? problem.m : m;
    if (m < problem.m && tiling.packed.rows == 0) tiling.below = {.row0 = m, .rows = problem.m - m, .columns = problem.n};
    if (n < problem.n && tiling.packed.columns == 0) tiling.right = {.column0 = n, .rows = rows, .columns = problem.n - n};
    return tiling;
}

Geometry geometry_of(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device) {
    Geometry geometry;
    static_cast<Tiling&>(geometry) = tiling_of(problem, config);
    geometry.whole = {.rows = problem.m, .columns = problem.n};
    geometry.partial_results = partial_results(config);
    geometry.k_per_split = depth_of_split(problem.k, config.split_k, config.block_k);
    geometry.copies = product_of(config).copies(problem, config, geometry.main);
    geometry.packing = packing_beside(problem, config, device);
    geometry.line = phase_line_on(problem, config, device);
    geometry.blocks_for_strips = blocks_for_strips(problem, config, geometry, device);
    geometry.grid = blocks_of_tiles(problem, config, geometry.main, device) - geometry.line.tiles + geometry.line.blocks +
                    geometry.packing.packers + geometry.blocks_for_strips;
    geometry.workspace = workspace_of(problem, config, geometry);
    return geometry;
}

std::int64_t depth_of_split(std::int64_t k, int split_k, int block_k) {
    const std::int64_t share = (k + split_k - 1) / split_k;
    return (share + block_k - 1) / block_k * block_k;
}

}  // namespace tmm
