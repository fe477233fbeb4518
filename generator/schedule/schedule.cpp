#include "generator/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "generator/schedule/packing.h"
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

}  // namespace

TileSize tile_of_c(const KernelConfig& config) {
    if (config.swap_ab != 0) return {.rows = config.block_n, .columns = config.block_m};
    return {.rows = config.block_m, .columns = config.block_n};
}

Extent main_extent(const GemmProblem& problem, const KernelConfig& config) {
    const auto covered = [&](std::int64_t size, int block) {
        return config.trim != 0 && leaves_a_strip(size, block) ? size - size % block : size;
    };
    const auto [rows, columns] = tile_of_c(config);
    return Extent{.rows = covered(problem.m, rows), .columns = covered(problem.n, columns)};
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

std::int64_t depth_of_split(std::int64_t k, int split_k, int block_k) {
    const std::int64_t share = (k + split_k - 1) / split_k;
    return (share + block_k - 1) / block_k * block_k;
}

bool leaves_partials(const Schedule& schedule) {
    return schedule.partial_results > 1 || schedule.line.blocks > 0;
}

std::int64_t depth_of_parts(const Schedule& schedule) {
    return std::min<std::int64_t>(schedule.k_per_split, schedule.product.k);
}

void divide_workspace(Schedule& s) {
    const std::int64_t bytes_of_sum = sum_bytes(s.product);
    std::int64_t begin = s.copies.a.bytes;
    // Returns where a part of so many bytes begins.
    const auto take = [&](std::int64_t bytes) {
        begin += bytes;
        return begin - bytes;
    };
    s.workspace.copy_of_b = take(s.copies.b.bytes + s.copies.past_the_last);
    s.workspace.counters = take(s.copies.counter_bytes);
    s.workspace.sums_of_columns = take(pack::strip_elements(s.packed.columns, s.main.rows, s.product.k, s.product.batch) * bytes_of_sum);
    s.workspace.sums_of_rows = take(pack::strip_elements(s.packed.rows, s.main.columns, s.product.k, s.product.batch) * bytes_of_sum);
    s.workspace.partials = take(parts_of_blocks(s.line.blocks) * s.config.block_m * s.config.block_n * bytes_of_sum);
    if (s.partial_results > 1) take(s.product.batch * s.partial_results * s.main.rows * workspace_ld(s.main.columns) * bytes_of_sum);
    s.workspace_bytes = begin;
}

}  // namespace tmm
