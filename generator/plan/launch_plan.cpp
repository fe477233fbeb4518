#include "generator/plan/launch_plan.h"

#include <utility>

#include "generator/families/family.h"
#include "generator/problem/matrix_layout.h"
#include "generator/steps/arguments.h"
#include "generator/steps/steps.h"

namespace tmm {
namespace {

// What adds up partial results, where the product leaves any: of the tiles that blocks share, and of parts of K, which the step that
// finishes sums may add up itself.
void add_sums(StepList& list) {
    if (list.schedule.line.blocks > 0) add_fixup(list);
    if (list.schedule.partial_results > 1 && list.schedule.finished.parts <= 1) add_reduce(list);
}

}  // namespace

LaunchPlan make_launch_plan(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device, Expression expression,
                            EpiloguePlace place) {
    LaunchPlan plan;
    static_cast<Schedule&>(plan) = schedule_of(problem, config, device, place);
    plan.expression = std::move(expression);
    if (is_empty(problem)) return plan;
    StepList list{.schedule = plan, .device = device};
    if (const auto add_steps = family_of(config).launch.add_steps)
        add_steps(list);
    else
        add_product(list, bind_product);
    add_sums(list);
    if (plan.finished.parts > 0) add_finish(list);
    if (problem.result == Result::symmetric) add_mirror(list);
    plan.steps = std::move(list.steps);
    return plan;
}

std::size_t bind_step(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments) {
    const bool is_before_finish = plan.finished.parts > 0 && !step.finishes_sums;
    return step.bind(plan, step, is_before_finish ? product_call(plan, call) : call, arguments);
}

std::size_t main_step(const LaunchPlan& plan) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i)
        if (const KernelConfig* config = config_of(plan.steps[i]); config && config->family == plan.config.family) return i;
    return 0;
}

std::int64_t prepared_bytes(const LaunchPlan& plan, GemmOperand operand) {
    if (plan.config.planes <= 1 || plan.steps.empty()) return 0;
    return (operand == GemmOperand::a ? plan.copies.a : plan.copies.b).bytes;
}

}  // namespace tmm
