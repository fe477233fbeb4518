// Products whose sums a step finishes. A gate takes two columns of the product that stand half of the columns apart (Activation::swiglu),
// or two rows (swiglu_rows): kernels that multiply both by one block apply it themselves; all others leave the product's sums in the
// workspace for a step that does. So does any kernel where the epilogue's place is a step.
#pragma once

#include "generator/machine/device_info.h"
#include "generator/plan/epilogue_place.h"
#include "generator/plan/launch_plan.h"
#include "generator/plan/plan_builder.h"

namespace tmm {

// Does a step apply the problem's gate? The config breaks no rule of its family's.
bool gate_is_a_step(const GemmProblem& problem, const KernelConfig& config);

// Can a step apply the problem's epilogue? Sums are floats, and a grid has an end.
bool step_can_finish(const GemmProblem& problem);

// What the config's kernels multiply: the problem, or, where a step finishes its sums, plain ones, which are floats: in C, where it holds
// floats and no gate makes one of two, else in the workspace.
GemmProblem product_problem(const GemmProblem& problem, const KernelConfig& config, EpiloguePlace place = EpiloguePlace::kernel);

// Does a step finish the sums of the config's product?
bool has_finishing_step(const GemmProblem& problem, const KernelConfig& config, EpiloguePlace place);

// What that step adds to the time of the product.
double microseconds_of_step(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

// The geometry of the config's plan. C must not be empty.
Geometry geometry_with_sums(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device,
                            EpiloguePlace place = EpiloguePlace::kernel);

void add_finish(PlanBuilder& plan);

// A call as the steps before that one see it.
GemmCall product_call(const LaunchPlan& plan, const GemmCall& call);

}  // namespace tmm
