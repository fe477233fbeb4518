// The step that copies operands to where their rows are aligned (templates/tmm/steps/pad).
#pragma once

#include <cstddef>

#include "generator/plan/launch_plan.h"

namespace tmm {

// The problem as those see it who find the operands where a pad step has left them. config: wgmma's.
GemmProblem padded_problem(const GemmProblem& problem, const KernelConfig& config);
OperandCopies padded_copies(const GemmProblem& problem, const KernelConfig& config);

std::size_t bind_pad(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments);

}  // namespace tmm
