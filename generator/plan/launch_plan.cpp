#include "generator/plan/launch_plan.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "generator/families/family.h"
#include "generator/families/gemv_strip.h"
#include "generator/families/sums_of_parts.h"
#include "generator/plan/kernel_arguments.h"
#include "generator/plan/plan_builder.h"
#include "generator/steps/planes.h"
#include "tmm/steps/pack/rules.h"
#include "tmm/steps/pack/strips.h"
#include "tmm/steps/reduce/rules.h"

namespace tmm {
namespace {

// Bytes of a partial result, which is a float.
constexpr std::int64_t kPartialBytes = 4;

// What is left of a declared alignment so many elements further on.
int alignment_at(int alignment, std::int64_t offset, ElementType type) {
    while (alignment > size_of(type) && offset * size_of(type) % alignment != 0) alignment /= 2;
    return alignment;
}

// So few rows or columns may be trimmed: a gemv kernel holds them all.
constexpr int kMostTrimmed = 16;

// Are there whole tiles of `block` rows, or columns, and few enough beside them? A strip's kernel is told in an int where it begins.
bool leaves_a_strip(std::int64_t size, int block) {
    return size > block && size % block >= 1 && size % block <= kMostTrimmed && size <= std::numeric_limits<int>::max();
}

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

int blocks_that_pack(const LaunchStep& step) {
    return family_of(step.config).product ? step.packing.packers : 0;
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
            EdgeProduct{.signature = signature, .config = gemv_strip(extent, problem.batch, signature, swap), .extent = extent});
    };
    const PackedStrips packed = packed_strips(problem, config);
    // What is packed has no corner.
    const i64 rows = packed.rows > 0 ? problem.m : m0;
    if (m0 < problem.m && packed.rows == 0) add(Extent{.row0 = m0, .rows = problem.m - m0, .columns = problem.n}, false);
    if (n0 < problem.n && packed.columns == 0) add(Extent{.column0 = n0, .rows = rows, .columns = problem.n - n0}, true);
    return edges;
}

KernelSignature main_signature(const GemmProblem& problem, const KernelConfig& config) {
    const Product* const product = family_of(config).product;
    return product ? product->signature(problem, config) : signature_of(problem);
}

LaunchPlan make_launch_plan(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device) {
    if (problem.m == 0 || problem.n == 0 || problem.batch == 0) return {.problem = problem, .config = config, .steps = {}};
    const Product& product = product_of(config);
    PlanBuilder plan(problem, config, device);
    product.add_steps_before(plan);
    plan.end_operands();
    plan.add_product();
    product.add_steps_behind(plan);
    plan.add_sums();
    return std::move(plan).finish();
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
    return reduce::blocks(reduce_config(problem, config), extent.rows, extent.columns, problem.batch);
}

std::int64_t longest_rounding_chain(const GemmProblem& problem, const KernelConfig& config) {
    std::int64_t chain = config.split_k > 1 ? depth_of_parts(problem, config) : problem.k;
    chain = product_of(config).longest_chain(problem, config, chain);
    chain += longest_sum_of_parts(problem, config);
    if (packed_strips(problem, config).any())
        chain = std::max<std::int64_t>(chain, strips::longest_chain(std::max(1, threads_of(config) / 32), problem.k));
    for (const EdgeProduct& edge : edge_products(problem, config))
        chain = std::max<std::int64_t>(chain, product_of(edge.config).longest_chain(problem, edge.config, problem.k));
    return chain;
}

}  // namespace tmm
