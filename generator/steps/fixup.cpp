#include "generator/steps/fixup.h"

#include "generator/plan/kernel_arguments.h"

namespace tmm {

std::size_t bind_fixup(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments) {
    Division division = division_of(plan.problem, step.config);
    division.line = plan.geometry.line;
    return write_arguments(sum_args(plan, call, division), arguments);
}

}  // namespace tmm
