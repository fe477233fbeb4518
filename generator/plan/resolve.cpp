#include "generator/plan/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "generator/families/candidate_choices.h"
#include "generator/families/family.h"
#include "generator/families/gemv/gemv.h"
#include "generator/families/product_problem.h"
#include "generator/problem/matrix_layout.h"
#include "generator/problem/problem_forms.h"
#include "generator/schedule/packing.h"
#include "generator/steps/arguments.h"
#include "generator/steps/steps.h"
#include "tmm/number/arithmetic.h"
#include "tmm/steps/pack/rules.h"
#include "tmm/steps/pack/strips.h"

namespace tmm {
namespace {

constexpr std::int64_t kLargestGrid = 2147483647;
// Most elements of a batch's matrix: more than any device has room for, and few enough that the bytes of whatever is made of them are a
// number.
constexpr double kMostElements = 0x1p46;
// Most registers that a thread may have.
constexpr int kMostRegisters = 255;
// Partial results beyond this cost more to write and read than the split can win.
constexpr std::int64_t kLargestWorkspace = std::int64_t{1} << 30;
// Sums begin where any part of a workspace may.
constexpr std::int64_t kPartAlignment = 256;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

// What is left of a declared alignment so many elements further on.
int alignment_at(int alignment, std::int64_t offset, ElementType type) {
    while (alignment > size_of(type) && offset * size_of(type) % alignment != 0) alignment /= 2;
    return alignment;
}

// The kernels of what the main kernel leaves of C, but for the packed strips: the bottom rows, and above them the right columns.
void add_edges(Schedule& s) {
    const GemmProblem& p = s.product;
    const auto add = [&](const Extent& extent, bool swap) {
        if (extent.is_empty()) return;
        KernelSignature signature = signature_of(p);
        signature.align_a = alignment_at(signature.align_a, offset_a(p, extent), p.type_a);
        signature.align_b = alignment_at(signature.align_b, offset_b(p, extent), p.type_b);
        signature.align_c = alignment_at(signature.align_c, offset_c(p, extent), p.type_c);
        s.edges.push_back({.signature = signature, .config = gemv_strip(extent, p.batch, signature, swap), .extent = extent});
    };
    const auto [m, n] = std::pair(s.main.rows, s.main.columns);
    // What is packed has no corner.
    const std::int64_t rows = s.packed.rows > 0 ? p.m : m;
    if (m < p.m && s.packed.rows == 0) add({.row0 = m, .rows = p.m - m, .columns = p.n}, false);
    if (n < p.n && s.packed.columns == 0) add({.column0 = n, .rows = rows, .columns = p.n - n}, true);
}

// Blocks of the main kernel, were all of them launched at once: as many as a product has whose tiles fill the rectangle that a triangle is
// folded to.
std::int64_t blocks_of_main(const Schedule& s) {
    const KernelConfig& c = s.config;
    if (s.signature.result == Result::full || !family_of(c).traits.walks_triangles)
        return blocks_of(c, s.main.rows, s.main.columns, s.product.batch);
    TileSize tile = tile_of_c(c);
    tile.rows *= c.swap_ab ? c.multicast_a : c.multicast_b;
    tile.columns *= c.swap_ab ? c.multicast_b : c.multicast_a;
    const TilesOfC tiles = tiles_of_result(s.signature.result, s.main.rows, s.main.columns, tile.rows, tile.columns);
    return blocks_of(c, tiles.rows * tile.rows, tiles.columns * tile.columns, s.product.batch);
}

// Which tiles the blocks share with stream_k; no tiles and no blocks where they make whole waves.
PhaseLine shared_tiles(const Schedule& s, const DeviceInfo& device) {
    const std::int64_t slots = std::int64_t{std::max(1, device.sm_count)} * s.config.min_blocks;
    const std::int64_t shared = s.config.stream_k != 0 ? tiles_to_share(s.blocks, slots) : 0;
    const std::int64_t phases = phases_of_tile(s.config, s.product.k);
    return {.phases = phases, .tiles = shared, .blocks = shared == 0 ? 0 : sharing_blocks(shared, phases, slots)};
}

// Blocks that walk over the tiles are as many as the device's SMs hold at once.
std::int64_t blocks_of_tiles(const Schedule& s, const DeviceInfo& device) {
    if (!blocks_walk(s.config) || device.sm_count == 0) return s.blocks;
    const std::int64_t size = cluster_size_of(s.config);
    const std::int64_t held = std::int64_t{device.sm_count} * s.config.min_blocks;
    return std::min(s.blocks, std::max<std::int64_t>(1, held / size) * size);
}

// More bytes than the workspace of any plan, but for stream-K's parts, which the device bounds: partial results, a gate's sums, and, where
// steps copy the operands, of each at most three planes of 16 bits, exponents of its lines and sums of its strips.
double most_workspace(const GemmProblem& p, const KernelConfig& c) {
    const auto padded = [](std::int64_t size) { return static_cast<double>(size) + 1024; };
    const bool copies = c.pack_ab != 0 || c.planes > 1;
    const double operands = copies ? 32 * (padded(p.m) + padded(p.n)) * padded(p.k) : 0;
    const double results = partial_results(c) > 1 ? 16.0 * partial_results(c) * padded(p.m) * padded(p.n) : 0;
    const double gated = is_gate(p.activation) ? sum_bytes(p) * padded(p.m) * padded(p.n) : 0;
    return static_cast<double>(p.batch) * (operands + results + gated);
}

std::string too_much_workspace(const KernelConfig& c, double bytes) {
    return fmt::format("needs more MiB of workspace than a plan may have (split_k={}, stream_k={} and pack_ab={}: {:.0f}, of {})",
                       c.split_k, c.stream_k, c.pack_ab, bytes / (1 << 20), kLargestWorkspace >> 20);
}

// Why no kernel can be made of the config for the problem, or none whose schedule is made of numbers.
std::optional<std::string> why_no_schedule(const GemmProblem& p, const KernelConfig& c, EpiloguePlace place) {
    if (auto misused = find_misused_field(c)) return std::move(misused->why);
    const GemmProblem product = product_problem(p, c, place);
    if (!family_of(c).traits.serves_any_size && is_left_to_naive(product))
        return "sizes of 2^31 and more, and 2^46 elements, are left to naive";
    if (const char* const violation = family_of(c).rules.violation(c, signature_of_product(product, c))) return violation;
    constexpr double more_than_devices_have = 0x1p60;
    if (const double most = most_workspace(p, c); !is_empty(p) && most > more_than_devices_have) return too_much_workspace(c, most);
    return std::nullopt;
}

// What an SM and a block of its have room for.
std::optional<std::string> why_no_room(const Schedule& s, const DeviceInfo& device) {
    const KernelConfig& c = s.config;
    const std::int64_t shared = shared_bytes_of(c, s.signature);
    if (shared > device.shared_bytes_per_block)
        return fmt::format("needs more bytes of shared memory than a block may have ({}, of {})", shared, device.shared_bytes_per_block);
    if (c.min_blocks > 1 && (shared + 1024) * c.min_blocks > device.shared_bytes_per_sm)
        return fmt::format("an SM's shared memory does not hold as many blocks as min_blocks says ({} of {} bytes in {})", c.min_blocks,
                           shared, device.shared_bytes_per_sm);
    if (threads_of(c) * c.min_blocks > device.max_threads_per_sm)
        return fmt::format("as many blocks as min_blocks says have more threads than an SM takes ({} of {} threads, of {})", c.min_blocks,
                           threads_of(c), device.max_threads_per_sm);
    // The accumulators alone, before fragments and addresses; what ptxas needs beyond that shows as spills.
    const auto accumulators_of = family_of(c).rules.accumulators;
    const int accumulators = accumulators_of ? accumulators_of(c) * sum_bytes(s.signature) / 4 : 0;
    const int register_limit = std::min(kMostRegisters, device.registers_per_sm / (threads_of(c) * c.min_blocks));
    if (accumulators + 24 > register_limit)
        return fmt::format("a thread's accumulators do not fit its registers ({} in {})", accumulators, register_limit);
    return std::nullopt;
}

// Why the config can't walk over what is wanted of C, or over a batch that stands anywhere.
std::optional<std::string> why_not_walked(const Schedule& s) {
    const GemmProblem& p = s.product;
    const KernelConfig& c = s.config;
    if (const char* const violation = walk_violation(s.problem)) return violation;
    if (p.result != Result::full) {
        if (c.trim != 0) return "of a triangle trim leaves no strip";
        if (s.packing.packers > 0) return "blocks that pack beside the product serve all of C";
    }
    if (p.pointers) {
        if (c.pack_ab != 0 || c.planes > 1) return "steps that copy operands take those of a batch one behind the other";
        if (c.trim != 0) return "strips take operands of a batch one behind the other";
        if (s.finished.parts == 1) return "a step that finishes sums takes those of a batch one behind the other";
    }
    return std::nullopt;
}

std::optional<std::string> why_no_grid(const Schedule& s) {
    const GemmProblem& p = s.product;
    const KernelConfig& c = s.config;
    if (p.m > 0 && p.n > 0) {
        const std::int64_t tiles_n = ceil_divide(c.swap_ab ? p.m : p.n, c.block_n);
        const std::int64_t tiles = ceil_divide(c.swap_ab ? p.n : p.m, c.block_m) * tiles_n;
        if (tiles > kLargestGrid / std::max<std::int64_t>(1, p.batch) / c.split_k) return "more blocks than a grid can hold (2^31 - 1)";
        if (c.raster > 0 && tiles_n > kLargestGrid / c.raster) return "raster bands would hold more blocks than a grid";
    }
    for (const EdgeProduct& edge : s.edges)
        if (blocks_of(edge.config, edge.extent.rows, edge.extent.columns, 1) > kLargestGrid / std::max<std::int64_t>(1, p.batch))
            return "more blocks for what is trimmed than a grid can hold (2^31 - 1)";
    return std::nullopt;
}

}  // namespace

bool is_left_to_naive(const GemmProblem& p) {
    if (std::max({p.m, p.n, p.k, p.batch}) >= kLargestGrid) return true;
    return static_cast<double>(std::max({p.m * p.k, p.k * p.n, p.m * p.n})) * static_cast<double>(p.batch) > kMostElements;
}

Schedule schedule_of(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device, EpiloguePlace place) {
    Schedule s;
    s.problem = problem;
    s.product = product_problem(problem, config, place);
    s.config = config;
    const GemmProblem& p = s.product;
    s.signature = signature_of_product(p, config);
    s.whole = {.rows = p.m, .columns = p.n};
    s.main = main_extent(p, config);
    s.partial_results = partial_results(config);
    s.k_per_split = depth_of_split(p.k, config.split_k, config.block_k);
    if (is_empty(p)) return s;
    s.packed = packed_strips(p, config);
    if (config.trim != 0) add_edges(s);
    s.blocks = blocks_of_main(s);
    s.line = shared_tiles(s, device);
    if (const auto add_copies = family_of(config).launch.add_copies) add_copies(s, device);
    s.grid = blocks_of_tiles(s, device) - s.line.tiles + s.line.blocks + s.packing.packers + s.blocks_for_strips;
    divide_workspace(s);
    s.finished = finished_sums(problem, p, config, place);
    if (s.finished.bytes > 0) {
        s.finished.offset = ceil_divide(s.workspace_bytes, kPartAlignment) * kPartAlignment;
        s.workspace_bytes = s.finished.offset + s.finished.bytes;
    }
    return s;
}

std::optional<std::string> why_invalid(const Schedule& s, const DeviceInfo& device) {
    const GemmProblem& p = s.product;
    const KernelConfig& c = s.config;
    const Family& family = family_of(c);
    if (c.overlap != 0 && c.overlap != 1) return "overlap is 0 or 1";
    if (c.overlap != 0 && !device.overlaps_kernels()) return "overlap needs compute capability 9.0";
    if (family.rules.rejection)
        if (auto reason = family.rules.rejection(s, device)) return reason;
    if (auto reason = why_not_walked(s)) return reason;
    if (c.trim != 0)
        if (auto reason = why_not_trimmed(p, c)) return reason;
    const TileSize tile = tile_of_c(c);
    if (c.boundary == boundary::exact && !divides(s.main, p.k, tile.rows, tile.columns, c.block_k))
        return fmt::format("exact needs m, n and k to be multiples of {}, {} and {}", tile.rows, tile.columns, c.block_k);
    if (c.async_copy != 0 && device.compute_capability() < 80) return "cp.async needs compute capability 8.0";
    if (cluster_size_of(c) > device.largest_cluster())
        return device.largest_cluster() == 1 ? "clusters need compute capability 9.0"
                                             : fmt::format("the device takes clusters of up to {} blocks", device.largest_cluster());
    if (auto reason = why_no_room(s, device)) return reason;
    if (!family.traits.serves_any_size)
        if (auto reason = why_no_grid(s)) return reason;
    if (c.stream_k != 0 && s.line.tiles == 0) return "stream_k has no tiles to share: they make whole waves";
    if (c.split_k > 1 && c.split_k > p.k) return "more parts than K has elements";
    if (s.workspace_bytes > kLargestWorkspace) return too_much_workspace(c, static_cast<double>(s.workspace_bytes));
    return std::nullopt;
}

std::variant<Schedule, Rejection> resolve(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device,
                                          EpiloguePlace place) {
    if (auto reason = why_no_schedule(problem, config, place)) return Rejection{std::move(*reason)};
    Schedule schedule = schedule_of(problem, config, device, place);
    if (auto reason = why_invalid(schedule, device)) return Rejection{std::move(*reason)};
    return schedule;
}

std::optional<std::string> why_invalid(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device) {
    auto resolved = resolve(problem, config, device);
    auto* const rejection = std::get_if<Rejection>(&resolved);
    return rejection ? std::optional(std::move(rejection->reason)) : std::nullopt;
}

std::int64_t longest_sum_of_parts(const Schedule& s) {
    // A cluster's blocks, and fixup, add up what their additions lose as well (partial_sums.cuh): two roundings, whatever their number.
    const std::int64_t chain = s.config.cluster > 1 || s.config.stream_k != 0 ? 2 : 0;
    return s.partial_results > 1 ? chain + reduce::longest_chain(reduce_for(s), s.partial_results) : chain;
}

std::int64_t blocks_that_add_parts(const Schedule& s) {
    if (s.partial_results <= 1) return 0;
    return reduce::blocks(reduce_for(s), s.main.rows, s.main.columns, s.product.batch);
}

std::int64_t longest_rounding_chain(const Schedule& s) {
    const std::int64_t k = s.product.k;
    std::int64_t chain = longest_chain_of(s.signature, s.config, s.config.split_k > 1 ? depth_of_parts(s) : k);
    chain += longest_sum_of_parts(s);
    if (s.packed.any()) chain = std::max<std::int64_t>(chain, strips::longest_chain(std::max(1, threads_of(s.config) / 32), k));
    for (const EdgeProduct& edge : s.edges) chain = std::max<std::int64_t>(chain, longest_chain_of(edge.signature, edge.config, k));
    return chain;
}

}  // namespace tmm
