// The step that copies operands to where their rows are aligned (templates/tmm/steps/pad).
#pragma once

#include "generator/plan/plan_builder.h"

namespace tmm {

// The problem as those see it who find the operands where a pad step has left them. config: wgmma's.
GemmProblem padded_problem(const GemmProblem& problem, const KernelConfig& config);
OperandCopies padded_copies(const GemmProblem& problem, const KernelConfig& config);

void add_pad(PlanBuilder& plan);

}  // namespace tmm
