// Gates (Activation::swiglu): an element of C takes two columns of the product that stand half of the columns apart. Kernels that multiply
// both by one block make it themselves; all others leave the product's sums in the workspace for a step that does.
#pragma once

#include "generator/machine/device_info.h"
#include "generator/plan/launch_plan.h"
#include "generator/plan/plan_builder.h"

namespace tmm {

// Does a step apply the problem's gate? The config breaks no rule of its family's.
bool gate_is_a_step(const GemmProblem& problem, const KernelConfig& config);

// What the config's kernels multiply: the problem, or, where a step applies its gate, plain sums, which are floats.
GemmProblem product_problem(const GemmProblem& problem, const KernelConfig& config);

// What the step adds to the time of the product.
double microseconds_of_gate(const GemmProblem& problem, const DeviceInfo& device);

// The geometry of the config's plan. C must not be empty.
Geometry geometry_with_gate(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

void add_gate(PlanBuilder& plan);

// A call as the steps before the gate see it.
GemmCall product_call(const LaunchPlan& plan, const GemmCall& call);

}  // namespace tmm
