#include "generator/plan/kernel_steps.h"

#include "generator/families/family.h"
#include "generator/plan/launch_plan.h"
#include "generator/validity/validity.h"

namespace tmm {

bool is_step_of_others(const KernelConfig& config) {
    return !misused_field(config) && !family_of(config).product;
}

std::optional<std::string> fault_of(const KernelRequest& request) {
    if (!is_step_of_others(request.config)) return why_invalid(request.shape.problem, request.config, request.device);
    return why_no_kernel(request.config, kernel_signature(main_signature(request.shape.problem, request.config), request.config));
}

KernelSteps steps_of(const KernelRequest& request) {
    KernelSteps result;
    const auto add = [&](const KernelSignature& signature, const KernelConfig& config, int threads, std::int64_t shared, std::int64_t grid,
                         int packers, int for_strips) {
        const KernelSignature own = kernel_signature(signature, config);
        result.steps.push_back({make_kernel_source(own, config), own, config, threads, shared, grid, packers, for_strips});
    };
    if (is_step_of_others(request.config)) {
        const KernelSignature signature = kernel_signature(main_signature(request.shape.problem, request.config), request.config);
        add(signature, request.config, threads_of(request.config), shared_bytes_of(request.config, signature), 0, 0, 0);
        return result;
    }
    const LaunchPlan plan = make_launch_plan(request.shape.problem, request.config, request.device);
    for (const LaunchStep& step : plan.steps)
        add(step.signature, step.config, step.threads, step.shared_bytes, step.grid, step.packers, step.blocks_for_strips);
    result.workspace_bytes = plan.workspace_bytes;
    return result;
}

}  // namespace tmm
