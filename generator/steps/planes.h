// The step that writes floats as sums of 16-bit numbers (templates/tmm/steps/planes), and where the product finds them.
#pragma once

#include "generator/plan/plan_builder.h"

namespace tmm {

struct PlanesOperands {
    planes::Operand a;
    planes::Operand b;
};
// config: the plan's own.
PlanesOperands planes_operands(const GemmProblem& problem, const KernelConfig& config);
OperandCopies planes_copies(const GemmProblem& problem, const KernelConfig& config);

struct SplitOperands {
    PlanesOperand a;
    PlanesOperand b;
    UnfitMarks unfit_a;
    UnfitMarks unfit_b;
};
// Where the product finds the operands: each is prepared, or in its part of the workspace.
SplitOperands split_operands(const LaunchPlan& plan, const GemmCall& call);

void add_planes(PlanBuilder& plan);

}  // namespace tmm
