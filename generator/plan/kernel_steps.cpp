#include "generator/plan/kernel_steps.h"

#include "generator/plan/launch_plan.h"

namespace tmm {

KernelSteps steps_of(const KernelRequest& request) {
    KernelSteps result;
    const LaunchPlan plan = make_launch_plan(request.shape.problem, request.config, request.device);
    for (const LaunchStep& step : plan.steps) {
        const KernelSignature own = kernel_signature(step.signature, step.kernel);
        result.steps.push_back({make_kernel_source(own, step.kernel), own, step.kernel, step.threads, step.shared_bytes, step.grid,
                                step.packers, step.blocks_for_strips});
    }
    result.workspace_bytes = plan.workspace_bytes;
    return result;
}

}  // namespace tmm
