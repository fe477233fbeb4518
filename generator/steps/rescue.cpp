#include "generator/steps/rescue.h"

#include "generator/plan/kernel_arguments.h"
#include "generator/steps/planes.h"
#include "tmm/steps/rescue/rules.h"

namespace tmm {

std::size_t bind_rescue(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    RescueArgs args;
    static_cast<GemmArgs&>(args) = with_partials(make_args(step, problem, call), step, call);
    const SplitOperands split = split_operands(step, problem, call);
    args.unfit_a = split.unfit_a;
    args.unfit_b = split.unfit_b;
    return write_arguments(args, arguments);
}

}  // namespace tmm
