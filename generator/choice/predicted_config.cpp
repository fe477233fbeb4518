#include "generator/choice/predicted_config.h"

#include <optional>

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
            why_invalid(problem, predicted.config, device) || why_inaccurate(schedule))
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
    return best ? *best : fallback_config();
}

}  // namespace tmm
