#include "generator/choice/predicted_config.h"

#include <optional>

#include "generator/choice/cost_model.h"
#include "generator/choice/validity.h"
#include "generator/families/family.h"
#include "generator/families/naive/descriptor.h"
#include "generator/plan/workspace_estimate.h"

namespace tmm {

KernelConfig fallback_config() {
    return plainest_config();
}

KernelConfig default_config(const GemmProblem& problem, const DeviceInfo& device, std::int64_t most_workspace) {
    if (is_left_to_naive(problem)) return fallback_config();
    const CostModel model(problem, device);
    std::optional<KernelConfig> best;
    double best_estimate = 0;
    const auto consider = [&](const KernelConfig& config) {
        const double estimate = model.estimate(config);
        if ((best && estimate >= best_estimate) || workspace_estimate(problem, config, device) > static_cast<double>(most_workspace) ||
            why_invalid(problem, config, device) || why_inaccurate(problem, config))
            return;
        best = config;
        best_estimate = estimate;
    };
    for (const Family* family : product_families()) {
        const Product& product = *family->product;
        for (const KernelConfig& config : product.defaults(problem, device)) consider(model.with_better_overlap(config));
        if (!best || best->family != family->number) continue;
        for (const KernelConfig& variant : product.default_variants(*best)) consider(variant);
        if (product.is_unrivalled(problem, *best)) break;
    }
    return best ? *best : fallback_config();
}

}  // namespace tmm
