// The step that copies operands to where simt reads them best (templates/tmm/steps/pack), and what its product is told of them.
#pragma once

#include "generator/plan/plan_builder.h"
#include "tmm/steps/pack/strips.h"

namespace tmm {

OperandCopies packed_copies(const GemmProblem& problem, const KernelConfig& config, const Extent& main);

// What the product is told of the blocks that pack for its other blocks, and of those that add up strips.
PackersArgs packers_args(const LaunchPlan& plan, const GemmCall& call);
StripsArgs strips_args(const LaunchPlan& plan, const GemmCall& call);

void add_pack(PlanBuilder& plan);

}  // namespace tmm
