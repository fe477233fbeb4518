// The step that adds up the parts of K that split-K has multiplied apart (templates/tmm/steps/reduce).
#pragma once

#include "generator/plan/plan_builder.h"

namespace tmm {

// How so many partial results of each element of a batch are added up.
Reduce reduce_for(const Extent& extent, std::int64_t batch, int parts);
// … a config's.
Reduce reduce_for(const GemmProblem& problem, const KernelConfig& config);

void add_reduce(PlanBuilder& plan);

}  // namespace tmm
