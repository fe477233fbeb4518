#include "generator/choice/validity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <variant>

#include "generator/families/family.h"
#include "generator/text/text.h"
#include "tmm/number/arithmetic.h"

namespace tmm {
namespace {

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
constexpr std::initializer_list<ComputeMode> kSumsOfDoubles = {ComputeMode::f64};
constexpr std::initializer_list<ComputeMode> kSumsOfIntegers = {ComputeMode::s32};
constexpr ServedOperands kServed[] = {{ElementType::f32, kModesOfFloats},
                                      {ElementType::f16, kSumsOfFloats},
                                      {ElementType::bf16, kSumsOfFloats},
                                      {ElementType::f64, kSumsOfDoubles},
                                      {ElementType::s8, kSumsOfIntegers}};

const ServedOperands* served(ElementType type) {
    const auto* found = std::find_if(std::begin(kServed), std::end(kServed), [&](const auto& row) { return row.type == type; });
    return found == std::end(kServed) ? nullptr : found;
}

// Are products of the operands as long as the sums that they go into? Otherwise they are what the error comes from.
bool multiplies_whole_floats(const Arithmetic& arithmetic) {
    return arithmetic.operand_digits == format_of(arithmetic.accumulator).digits;
}

// Do several threads share the products of one element of C?
bool sums_k_in_parts(const KernelConfig& c) {
    return family_of(c).traits.shares_k || c.slice_k > 1 || c.split_k > 1 || c.stream_k != 0 || c.trim != 0;
}

}  // namespace

std::optional<std::string> why_no_kernel(const KernelConfig& c, const KernelSignature& signature) {
    if (auto misused = find_misused_field(c)) return std::move(misused->why);
    const char* const violation = violation_of(c, signature);
    return violation ? std::optional<std::string>(violation) : std::nullopt;
}

bool serves_types(const GemmProblem& p) {
    if (!served(p.type_a) || p.type_b != p.type_a) return false;
    if (p.type_a == ElementType::s8) return p.type_c == ElementType::s32;
    const bool is_wide = p.type_a == ElementType::f64;
    return (p.type_c == p.type_a || (p.type_c == ElementType::f32 && !is_wide)) && (p.type_bias != ElementType::f64 || is_wide);
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

std::optional<std::string> why_inaccurate(const Schedule& schedule) {
    const GemmProblem& p = schedule.product;
    const KernelConfig& c = schedule.config;
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
    const std::int64_t additions = longest_sum_of_parts(schedule);
    const std::int64_t depth = depth_of_parts(schedule);
    if (depth >= kDepthPerAddition * additions) return std::nullopt;
    return fmt::format("parts of K are so shallow that they err more than a loop of FMAs ({} parts of {}, which must be {} deep)",
                       c.split_k, depth, kDepthPerAddition * additions);
}

SumOrder order_of_sums(const Schedule& schedule) {
    const KernelConfig& c = schedule.config;
    const Rules& rules = family_of(c).rules;
    if (format_of(arithmetic_of(schedule.product).accumulator).is_integer) return SumOrder::exact;
    if (sums_k_in_parts(c) || c.cluster > 1) return SumOrder::parts;
    return rules.sum_order ? rules.sum_order(schedule.signature, c) : SumOrder::fmas;
}

// Tensor cores add up 16-bit products and those of TF32; of the units that a device has it is the fastest, whatever the sizes are.
SumOrder invariant_order(const GemmProblem& p, const DeviceInfo& device) {
    const Arithmetic arithmetic = arithmetic_of(p);
    if (format_of(arithmetic.accumulator).is_integer) return SumOrder::exact;
    const bool is_16_bits = is_16_bit(p.type_a);
    const bool is_tf32 = p.compute == ComputeMode::tf32;
    if ((is_16_bits || is_tf32) && device.compute_capability() == 90 && !device.emulated && !p.pointers) return SumOrder::wgmma;
    return is_16_bits && device.compute_capability() >= 80 ? SumOrder::mma : SumOrder::fmas;
}

std::string_view words_of(SumOrder order) {
    switch (order) {
        case SumOrder::parts: return "in parts of K";
        case SumOrder::fmas: return "one FMA after the other, k ascending";
        case SumOrder::mma: return "one mma.sync after the other, k ascending";
        case SumOrder::wgmma: return "one wgmma after the other, k ascending";
        case SumOrder::exact: return "exactly, in any order";
    }
    return "unknown";
}

std::optional<std::string> why_promise_broken(const Schedule& schedule, const DeviceInfo& device) {
    if (auto reason = why_inaccurate(schedule)) return reason;
    if (!schedule.problem.invariant) return std::nullopt;
    const SumOrder order = order_of_sums(schedule);
    const SumOrder wanted = invariant_order(schedule.problem, device);
    if (order == wanted) return std::nullopt;
    return fmt::format("with invariant=1 products are added up {}, and this config adds them up {}", words_of(wanted), words_of(order));
}

std::optional<std::string> rejection_reason(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device) {
    auto resolved = resolve(problem, config, device);
    if (auto* const rejection = std::get_if<Rejection>(&resolved)) return std::move(rejection->reason);
    return why_promise_broken(std::get<Schedule>(resolved), device);
}

}  // namespace tmm
