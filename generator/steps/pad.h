// The step that copies operands to where their rows are aligned (templates/tmm/steps/pad).
#pragma once

#include <cstddef>

#include "generator/plan/launch_plan.h"

namespace tmm {

// The problem as those see it who find the operands where a pad step has left them. config: wgmma's.
GemmProblem padded_problem(const GemmProblem& problem, const KernelConfig& config);
// The call with the operands that a pad step has left in the workspace.
GemmCall padded_call(const GemmProblem& problem, const KernelConfig& config, GemmCall call);

std::size_t bind_pad(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments);

}  // namespace tmm
