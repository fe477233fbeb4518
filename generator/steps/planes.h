// The step that writes floats as sums of 16-bit numbers (templates/tmm/steps/planes), and where the product finds them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "generator/plan/launch_plan.h"
#include "tmm/steps/planes/rules.h"

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

std::size_t bind_planes(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments);
// LaunchStep::bind_preparation and busy_blocks.
std::size_t bind_preparation(const LaunchPlan& plan, const LaunchStep& step, const Preparation& preparation, std::byte* arguments);
std::int64_t busy_blocks(const LaunchStep& step, const std::byte* arguments);

}  // namespace tmm
