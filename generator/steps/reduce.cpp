#include "generator/steps/reduce.h"

#include "generator/plan/kernel_arguments.h"

namespace tmm {

std::size_t bind_reduce(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments) {
    return write_arguments(sum_args(plan, call, division_of(plan.problem, step.config)), arguments);
}

}  // namespace tmm
