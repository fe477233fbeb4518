#include "runtime/bundle/bundle_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "base/text/text_table.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/validity.h"
#include "generator/plan/launch_plan.h"
#include "generator/problem/problem_forms.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

// Does the config, which must be valid, run with the bundle's kernels alone?
bool is_ready(const Bundle& bundle, const GemmProblem& problem, const KernelConfig& config, std::int64_t most_workspace,
              const DeviceInfo& device) {
    const LaunchPlan plan = make_launch_plan(problem, config, device);
    return plan.workspace_bytes <= most_workspace && std::all_of(plan.steps.begin(), plan.steps.end(), [&](const LaunchStep& step) {
               return bundle.has(identity_of(make_kernel_source(step.signature, step.kernel)));
           });
}

std::string origin_of(const BundleEntry& entry) {
    switch (entry.match) {
        case Match::exact:
            return entry.measured_us > 0 ? fmt::format("won when it was tuned ({} µs)", short_number(entry.measured_us))
                                         : "won when it was tuned";
        case Match::near: return "won for the nearest tuned problem";
        case Match::predicted: return "was a guess from its shape";
        case Match::fallback: break;
    }
    return "was the one that is always right";
}

// The kernels of the entry's problem take the pointers, and the values of beta, of the one that is asked.
GemmProblem as_kernels_take(const GemmProblem& asked, const GemmProblem& entry) {
    GemmProblem problem = with_alignment(asked, std::min(asked.alignment, entry.alignment));
    problem.reads_c = asked.reads_c || entry.reads_c;
    return problem;
}

std::optional<BundledChoice> fallback_choice(const Bundle& bundle, const GemmProblem& asked, std::int64_t most_workspace,
                                             const DeviceInfo& device) {
    for (const bool reads_c : {asked.reads_c, true}) {
        GemmProblem problem = asked;
        problem.reads_c = reads_c;
        const Selection selection = fallback_selection(
            fmt::format("no compiler was found for {}, of which the bundle {} holds nothing near", to_text(asked), bundle.name()));
        if (!why_invalid(problem, selection.config, device) && is_ready(bundle, problem, selection.config, most_workspace, device))
            return BundledChoice{.problem = problem, .selection = selection};
    }
    return std::nullopt;
}

}  // namespace

std::optional<BundledChoice> held_choice(const Bundle& bundle, const GemmProblem& asked, std::int64_t most_workspace,
                                         const DeviceInfo& device) {
    if (asked.epilogue == Epilogue::custom) return std::nullopt;
    const GemmProblem problem = with_alignment(asked, asked.alignment);
    const BundleEntry* best = nullptr;
    for (const BundleEntry& entry : bundle.entries()) {
        if (entry.problem.alignment > problem.alignment || (best && best->problem.alignment >= entry.problem.alignment)) continue;
        GemmProblem same = problem;
        same.alignment = entry.problem.alignment;
        if (same != entry.problem || rejection_reason(entry.problem, entry.config, device)) continue;
        if (is_ready(bundle, entry.problem, entry.config, most_workspace, device)) best = &entry;
    }
    if (!best) return std::nullopt;
    return BundledChoice{.problem = best->problem,
                         .selection = {.config = best->config,
                                       .match = best->match,
                                       .why = fmt::format("the bundle {} holds {}, for which this config {}", bundle.name(),
                                                          to_text(best->problem), origin_of(*best)),
                                       .measured_us = best->measured_us}};
}

std::optional<BundledChoice> nearest_choice(const Bundle& bundle, const GemmProblem& asked, std::int64_t most_workspace,
                                            const DeviceInfo& device) {
    if (asked.epilogue == Epilogue::custom) return std::nullopt;
    // C is only scaled, which is nobody's strength.
    if (asked.k == 0) return fallback_choice(bundle, asked, most_workspace, device);
    std::optional<BundledChoice> nearest;
    double best = 0;
    for (const BundleEntry& entry : bundle.entries()) {
        const double apart = doublings_apart(entry.problem, asked);
        if (entry.match == Match::fallback || (nearest && best <= apart)) continue;
        const GemmProblem problem = as_kernels_take(asked, entry.problem);
        const std::optional<KernelConfig> config = config_for(problem, entry.problem, entry.config, device);
        if (!config || !is_ready(bundle, problem, *config, most_workspace, device)) continue;
        best = apart;
        nearest = BundledChoice{
            .problem = problem,
            .selection = {
                .config = *config,
                .match = Match::near,
                .why = fmt::format("no compiler was found for {}; the nearest problem of the bundle {}, {:.1f} doublings away, is {}",
                                   to_text(asked), bundle.name(), apart, to_text(entry.problem))}};
    }
    return nearest ? nearest : fallback_choice(bundle, asked, most_workspace, device);
}

}  // namespace tmm
