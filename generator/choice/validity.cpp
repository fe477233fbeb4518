#include "generator/choice/validity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>

#include "generator/families/candidate_choices.h"
#include "generator/families/family.h"
#include "generator/families/misused_field.h"
#include "generator/plan/finishing_step.h"
#include "generator/plan/launch_plan.h"
#include "generator/plan/workspace_estimate.h"
#include "generator/text/text.h"
#include "tmm/number/arithmetic.h"

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
// The depth that parts of K of FP32 products must have for each addition that their sums go through.
constexpr std::int64_t kDepthPerAddition = 8;
// The least K that FP32 products may sum in parts, and that may be split into planes.
constexpr std::int64_t kDepthForParts = 16;
constexpr std::int64_t kDepthForPlanes = 64;

// The modes that operands of a type are multiplied in.
struct ServedOperands {
    ElementType type;
    std::initializer_list<ComputeMode> modes;
};
constexpr std::initializer_list<ComputeMode> kModesOfFloats = {ComputeMode::f32, ComputeMode::f32_strict, ComputeMode::tf32};
constexpr std::initializer_list<ComputeMode> kSumsOfFloats = {ComputeMode::f32};
constexpr ServedOperands kServed[] = {
    {ElementType::f32, kModesOfFloats}, {ElementType::f16, kSumsOfFloats}, {ElementType::bf16, kSumsOfFloats}};

const ServedOperands* served(ElementType type) {
    const auto* found = std::find_if(std::begin(kServed), std::end(kServed), [&](const auto& row) { return row.type == type; });
    return found == std::end(kServed) ? nullptr : found;
}

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

// Are products of the operands as long as the sums that they go into? Otherwise they are what the error comes from.
bool multiplies_whole_floats(const Arithmetic& arithmetic) {
    return arithmetic.operand_digits == format_of(arithmetic.accumulator).digits;
}

// Do several threads share the products of one element of C?
bool sums_k_in_parts(const KernelConfig& c) {
    return product_of(c).shares_k || c.slice_k > 1 || c.split_k > 1 || c.stream_k != 0 || c.trim != 0;
}

std::optional<std::string> why_too_much_workspace(const GemmProblem& p, const KernelConfig& c, const DeviceInfo& device) {
    const double workspace = workspace_estimate(p, c, device);
    if (workspace > static_cast<double>(kLargestWorkspace))
        return fmt::format("needs more MiB of workspace than a plan may have (split_k={}, stream_k={} and pack_ab={}: {:.0f}, of {})",
                           c.split_k, c.stream_k, c.pack_ab, workspace / (1 << 20), kLargestWorkspace >> 20);
    return std::nullopt;
}

}  // namespace

std::optional<std::string> why_no_kernel(const KernelConfig& c, const KernelSignature& signature) {
    if (auto misused = find_misused_field(c)) return std::move(misused->why);
    const char* const violation = violation_of(c, signature);
    return violation ? std::optional<std::string>(violation) : std::nullopt;
}

bool serves_types(const GemmProblem& p) {
    return served(p.type_a) && p.type_b == p.type_a && (p.type_c == p.type_a || p.type_c == ElementType::f32) &&
           p.type_bias != ElementType::f64;
}

bool serves_mode(const GemmProblem& p) {
    const ServedOperands* const row = served(p.type_a);
    return row && std::find(row->modes.begin(), row->modes.end(), p.compute) != row->modes.end();
}

std::string why_none_serves(const GemmProblem& p, const std::string& reason) {
    if (serves_types(p) && !serves_mode(p))
        return fmt::format("operands of {} are not multiplied with compute={}", name_of(p.type_a), name_of(p.compute));
    // A reason says what its family takes; of a problem that no family takes it holds for all of them.
    constexpr std::string_view kFamily = "the family";
    return reason.starts_with(kFamily) ? "tmm" + reason.substr(kFamily.size()) : reason;
}

bool is_left_to_naive(const GemmProblem& p) {
    if (std::max({p.m, p.n, p.k, p.batch}) >= kLargestGrid) return true;
    return static_cast<double>(std::max({p.m * p.k, p.k * p.n, p.m * p.n})) * static_cast<double>(p.batch) > kMostElements;
}

std::optional<std::string> why_invalid(const GemmProblem& p, const KernelConfig& c, const DeviceInfo& device) {
    if (auto misused = find_misused_field(c)) return std::move(misused->why);
    if (gate_is_a_step(p, c)) {
        if (auto reason = why_invalid(product_problem(p, c), c, device)) return reason;
        return why_too_much_workspace(p, c, device);
    }
    const Product& product = product_of(c);
    if (!product.serves_any_size && is_left_to_naive(p)) return "sizes of 2^31 and more, and 2^46 elements, are left to naive";
    const KernelSignature signature = main_signature(p, c);
    if (const char* const violation = family_of(c).rules.violation(c, signature)) return violation;
    if (c.overlap != 0 && c.overlap != 1) return "overlap is 0 or 1";
    if (c.overlap != 0 && !device.overlaps_kernels()) return "overlap needs compute capability 9.0";
    if (auto reason = product.why_not(p, c, device)) return reason;
    if (c.trim != 0)
        if (auto reason = why_not_trimmed(p, c)) return reason;
    const TileOfC tile = tile_of_c(c);
    if (c.boundary == boundary::exact && !divides(main_extent(p, c), p.k, tile.rows, tile.columns, c.block_k))
        return fmt::format("exact needs m, n and k to be multiples of {}, {} and {}", tile.rows, tile.columns, c.block_k);
    if (c.async_copy != 0 && device.compute_capability() < 80) return "cp.async needs compute capability 8.0";
    if (cluster_size_of(c) > device.largest_cluster())
        return device.largest_cluster() == 1 ? "clusters need compute capability 9.0"
                                             : fmt::format("the device takes clusters of up to {} blocks", device.largest_cluster());
    const std::int64_t shared = shared_bytes_of(c, signature);
    if (shared > device.shared_bytes_per_block)
        return fmt::format("needs more bytes of shared memory than a block may have ({}, of {})", shared, device.shared_bytes_per_block);
    if (c.min_blocks > 1 && (shared + 1024) * c.min_blocks > device.shared_bytes_per_sm)
        return fmt::format("an SM's shared memory does not hold as many blocks as min_blocks says ({} of {} bytes in {})", c.min_blocks,
                           shared, device.shared_bytes_per_sm);
    if (threads_of(c) * c.min_blocks > device.max_threads_per_sm)
        return fmt::format("as many blocks as min_blocks says have more threads than an SM takes ({} of {} threads, of {})", c.min_blocks,
                           threads_of(c), device.max_threads_per_sm);
    // The accumulators alone, before fragments and addresses; what ptxas needs beyond that shows as spills.
    const int accumulators = product.accumulators(c);
    const int register_limit = std::min(kMostRegisters, device.registers_per_sm / (threads_of(c) * c.min_blocks));
    if (accumulators + 24 > register_limit)
        return fmt::format("a thread's accumulators do not fit its registers ({} in {})", accumulators, register_limit);
    if (!product.serves_any_size) {
        if (p.m > 0 && p.n > 0) {
            const std::int64_t tiles_n = ceil_divide(c.swap_ab ? p.m : p.n, c.block_n);
            const std::int64_t tiles = ceil_divide(c.swap_ab ? p.n : p.m, c.block_m) * tiles_n;
            if (tiles > kLargestGrid / std::max<std::int64_t>(1, p.batch) / c.split_k) return "more blocks than a grid can hold (2^31 - 1)";
            if (c.raster > 0 && tiles_n > kLargestGrid / c.raster) return "raster bands would hold more blocks than a grid";
        }
        for (const EdgeProduct& edge : edge_products(p, tiling_of(p, c)))
            if (blocks_of(edge.config, edge.extent.rows, edge.extent.columns, 1) > kLargestGrid / std::max<std::int64_t>(1, p.batch))
                return "more blocks for what is trimmed than a grid can hold (2^31 - 1)";
    }
    if (c.stream_k != 0 && phase_line_on(p, c, device).tiles == 0) return "stream_k has no tiles to share: they make whole waves";
    if (c.split_k > 1 && c.split_k > p.k) return "more parts than K has elements";
    return why_too_much_workspace(p, c, device);
}

std::optional<std::string> why_inaccurate(const GemmProblem& p, const KernelConfig& c) {
    if (!multiplies_whole_floats(arithmetic_of(p))) return std::nullopt;
    // A part's first product is rounded by itself, where FMAs round it with the sum so far. Where products are few, that is most of the
    // error: two parts of K = 2 have 1.41 times the loop's rms error where products cancel, two of 4 have 1.22 times, two of 8 have 1.12
    // times (simulated).
    if (p.k < kDepthForParts && sums_k_in_parts(c))
        return fmt::format("sums in parts err more than a loop of FMAs where K is small (K is {}, {} at least)", p.k, kDepthForParts);
    // Planes err by the same however few products there are, and a loop errs less.
    if (p.k < kDepthForPlanes && c.planes > 1)
        return fmt::format("planes of floats err more than a loop of FMAs where K is small (K is {}, {} at least)", p.k, kDepthForPlanes);
    // Where products' exponents differ widely, a loop rounds few of them. Adding up the parts of K then costs more than the shorter sums
    // spare, unless each part is eight times as deep as that chain: added up plainly, at K = 64 four parts have 1.02 times the loop's error
    // in norm over exponents from -60 to 60 and eight have 1.06 times; four parts of 32 have 0.95 times, and eight of 32 have 0.91 times
    // (simulated, 10^5 sums each).
    const std::int64_t additions = longest_sum_of_parts(p, c);
    const std::int64_t depth = depth_of_parts(p, c);
    if (depth >= kDepthPerAddition * additions) return std::nullopt;
    return fmt::format("parts of K are so shallow that they err more than a loop of FMAs ({} parts of {}, which must be {} deep)",
                       c.split_k, depth, kDepthPerAddition * additions);
}

}  // namespace tmm
