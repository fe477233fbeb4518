#include "generator/choice/predicted_config.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "generator/choice/cost_model.h"
#include "generator/choice/validity.h"
#include "generator/families/family.h"

namespace tmm {

KernelConfig fallback_config() {
    return plainest_config();
}

KernelConfig default_config(const GemmProblem& problem, const DeviceInfo& device, std::int64_t most_workspace) {
    if (is_left_to_naive(problem)) return fallback_config();
    std::optional<KernelConfig> best;
    double best_estimate = 0;
    // Few configs are better than the best so far, so that it is asked last whether one serves.
    const auto consider = [&](const Schedule& schedule, const PredictedConfig& predicted) {
        const double estimate = predicted.time.total();
        if ((best && estimate >= best_estimate) || schedule.workspace_bytes > most_workspace ||
            why_invalid(problem, predicted.config, device) || why_promise_broken(schedule, device))
            return;
        best = predicted.config;
        best_estimate = estimate;
    };
    for (const Family* family : families()) {
        const Search& search = family->search;
        if (!search.defaults) continue;
        for (const KernelConfig& config : search.defaults(problem, device)) {
            const Schedule schedule = schedule_of(problem, config, device);
            consider(schedule, with_better_overlap(schedule, device));
        }
        if (!best || best->family != family->number) continue;
        if (search.default_variants) {
            for (const KernelConfig& variant : search.default_variants(*best)) {
                const Schedule schedule = schedule_of(problem, variant, device);
                consider(schedule, {variant, predict(schedule, device)});
            }
        }
        if (search.is_unrivalled && search.is_unrivalled(problem, *best)) break;
    }
    // None of the likeliest configs may add up in the one order that an invariant problem allows.
    if (!best && problem.invariant) {
        for (const Family* family : families()) {
            for (const Search::Candidate& candidate : family->search.candidates(problem, device)) {
                if (rejection_reason(problem, candidate.config, device)) continue;
                const Schedule schedule = schedule_of(problem, candidate.config, device);
                consider(schedule, {candidate.config, predict(schedule, device)});
            }
        }
    }
    return best ? *best : fallback_config();
}

std::vector<KernelConfig> likely_configs(const GemmProblem& problem, const DeviceInfo& device, std::int64_t most_workspace,
                                         std::size_t most) {
    std::vector<KernelConfig> likely{default_config(problem, device, most_workspace)};
    if (is_left_to_naive(problem)) return likely;
    std::vector<PredictedConfig> others;
    for (const Family* family : families()) {
        if (!family->search.defaults) continue;
        for (const KernelConfig& config : family->search.defaults(problem, device)) {
            Schedule schedule = schedule_of(problem, config, device);
            if (schedule.workspace_bytes <= most_workspace) others.push_back(with_better_overlap(std::move(schedule), device));
        }
    }
    std::ranges::stable_sort(others, {}, [](const PredictedConfig& other) { return other.time.total(); });
    const auto is_alike = [](const KernelConfig& x, const KernelConfig& y) {
        const auto [rows, columns] = tile_of_c(x);
        const auto [other_rows, other_columns] = tile_of_c(y);
        return x.family == y.family && rows == other_rows && columns == other_columns && x.split_k == y.split_k && x.stream_k == y.stream_k;
    };
    for (const PredictedConfig& other : others) {
        if (likely.size() >= most) break;
        const bool is_known = std::ranges::any_of(likely, [&](const KernelConfig& known) { return is_alike(known, other.config); });
        if (!is_known && !rejection_reason(problem, other.config, device)) likely.push_back(other.config);
    }
    return likely;
}

}  // namespace tmm
