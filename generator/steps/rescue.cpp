#include "generator/steps/rescue.h"

#include "generator/plan/kernel_arguments.h"
#include "generator/steps/planes.h"
#include "tmm/steps/rescue/rules.h"

namespace tmm {

std::size_t bind_rescue(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments) {
    RescueArgs args;
    static_cast<GemmArgs&>(args) = make_args(plan, plan.geometry.main, call, division_of(plan.problem, step.config));
    if (leaves_partials(plan.geometry)) args.workspace = addresses_of(plan, call, plan.geometry.main).partials;
    const SplitOperands split = split_operands(plan, call);
    args.unfit_a = split.unfit_a;
    args.unfit_b = split.unfit_b;
    return write_arguments(args, arguments);
}

}  // namespace tmm
