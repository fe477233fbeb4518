// Near means: same types, operations and model of device, valid for the shape, and few doublings away. A difference in what the
// kernel's text depends on besides (alignment, beta, batch) counts as one doubling, because another kernel was measured then.
#include "runtime/selection.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "generator/search_space.h"
#include "generator/text.h"
#include "runtime/validate.h"
#include "tmm/signature.h"

namespace tmm {
namespace {

constexpr double kOtherKernelPenalty = 1;

bool computes_on_cuda_cores(const KernelConfig& config) {
    return config.family == family::naive || config.family == family::tiled || config.family == family::simt ||
           config.family == family::gemv || config.family == family::reduce;
}

// Who asks for TF32 wants its speed: where tensor cores multiply it, a guess at those is faster than what won in FP32.
bool is_too_slow_a_mode(const GemmProblem& asked, ComputeMode tuned, const DeviceInfo& device) {
    return asked.compute == ComputeMode::tf32 && tuned != asked.compute && has_tensor_core_kernels(asked, device);
}

// Same problem, but for the compute mode.
bool same_but_compute(GemmProblem x, const GemmProblem& y) {
    x.compute = y.compute;
    return x == y;
}

bool same_operands(const GemmProblem& x, const GemmProblem& y) {
    return x.type_a == y.type_a && x.type_b == y.type_b && x.type_c == y.type_c && x.op_a == y.op_a && x.op_b == y.op_b &&
           x.epilogue == y.epilogue;
}

std::string time_of(const WinnerRow& row) {
    return row.median_us > 0 ? fmt::format(" ({:.4g} us when tuned)", row.median_us) : "";
}

std::string mode_note(const GemmProblem& problem, const WinnerRow& row) {
    return row.problem.compute == problem.compute ? "" : fmt::format(", tuned as compute={}", name_of(row.problem.compute));
}

}  // namespace

std::string_view name_of(Match match) {
    switch (match) {
        case Match::exact: return "exact";
        case Match::near: return "near";
        case Match::predicted: return "predicted";
        case Match::fallback: return "fallback";
    }
    return "unknown";
}

bool keeps_promise(ComputeMode asked, ComputeMode tuned, const KernelConfig& config) {
    if (asked == tuned) return true;
    if (asked == ComputeMode::f32) return tuned == ComputeMode::f32_strict;
    if (asked == ComputeMode::f32_strict) return tuned == ComputeMode::f32 && computes_on_cuda_cores(config);
    if (asked == ComputeMode::tf32) return tuned == ComputeMode::f32 || tuned == ComputeMode::f32_strict;
    return false;
}

double doublings_apart(const GemmProblem& x, const GemmProblem& y) {
    const auto apart = [](i64 u, i64 v) {
        return std::abs(std::log2(static_cast<double>(std::max<i64>(1, u)) / static_cast<double>(std::max<i64>(1, v))));
    };
    return apart(x.m, y.m) + apart(x.n, y.n) + apart(x.k, y.k) + apart(x.batch, y.batch);
}

Winners::Winners(std::vector<WinnerRow> rows, DeviceInfo device) : rows_(std::move(rows)), device_(std::move(device)) {
    std::erase_if(rows_, [&](const WinnerRow& row) {
        return row.device != device_.name || row.compute_capability != device_.compute_capability() || row.sm_count != device_.sm_count;
    });
    for (WinnerRow& row : rows_) row.problem = with_alignment(row.problem, row.problem.alignment);
    // A user's rows first, so that the first of equals is theirs.
    std::stable_partition(rows_.begin(), rows_.end(), [](const WinnerRow& row) { return row.origin == "user"; });
}

Selection Winners::select(const GemmProblem& asked) const {
    const GemmProblem problem = with_alignment(asked, asked.alignment);
    if (is_empty(problem)) return fallback_selection(problem, "there is no element to compute");
    if (problem.k == 0) return fallback_selection(problem, "k is 0, so C is only scaled");

    const auto may_serve = [&](const WinnerRow& row) {
        return keeps_promise(problem.compute, row.problem.compute, row.config) &&
               !is_too_slow_a_mode(problem, row.problem.compute, device_);
    };
    std::string passed_over;
    const WinnerRow* exact = nullptr;
    for (const WinnerRow& row : rows_) {
        if (!same_but_compute(row.problem, problem) || !may_serve(row)) continue;
        if (const std::optional<std::string> invalid = why_invalid(problem, row.config, device_)) {
            passed_over = fmt::format("; its winner in the database is not valid: {}", *invalid);
            continue;
        }
        const bool better =
            !exact || (row.origin == exact->origin && row.problem.compute == problem.compute && exact->problem.compute != problem.compute);
        if (better) exact = &row;
    }
    if (exact)
        return {.config = exact->config,
                .match = Match::exact,
                .why = fmt::format("{} was tuned on {}{}, and this config won{}", to_text(problem), exact->device,
                                   mode_note(problem, *exact), time_of(*exact))};

    const KernelSignature signature = signature_of(problem);
    const WinnerRow* nearest = nullptr;
    // Distance, then whether the compute mode differs.
    std::pair<double, bool> best{kNearDoublings, true};
    for (const WinnerRow& row : rows_) {
        if (!same_operands(row.problem, problem) || !may_serve(row)) continue;
        KernelSignature tuned = signature_of(row.problem);
        tuned.compute = signature.compute;
        const std::pair<double, bool> distance{doublings_apart(row.problem, problem) + (tuned == signature ? 0 : kOtherKernelPenalty),
                                               row.problem.compute != problem.compute};
        if (nearest ? distance >= best : distance > best) continue;
        if (why_invalid(problem, row.config, device_)) continue;
        nearest = &row;
        best = distance;
    }
    if (nearest)
        return {
            .config = nearest->config,
            .match = Match::near,
            .why = fmt::format("{} was not tuned on {}; the nearest tuned problem, {:.1f} doublings away, is {}{}, and its winner is valid "
                               "here{}",
                               to_text(problem), device_.name, doublings_apart(nearest->problem, problem), to_text(nearest->problem),
                               mode_note(problem, *nearest), passed_over)};

    const KernelConfig predicted = default_config(problem, device_);
    if (const std::optional<std::string> invalid = why_invalid(problem, predicted, device_))
        return fallback_selection(problem, fmt::format("the predicted config is not valid: {}{}", *invalid, passed_over));
    return {.config = predicted,
            .match = Match::predicted,
            .why = fmt::format(
                "neither {} nor a problem within {:.0f} doublings of it was tuned on {}, so the config is a guess from its shape{}",
                to_text(problem), kNearDoublings, device_.name, passed_over)};
}

Selection fallback_selection(const GemmProblem& problem, const std::string& because) {
    return {.config = fallback_config(problem), .match = Match::fallback, .why = because};
}

}  // namespace tmm
