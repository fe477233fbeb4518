// The step that applies an epilogue to whole sums (templates/tmm/steps/finishing).
#pragma once

#include "generator/plan/plan_builder.h"

namespace tmm {

// How the blocks divide a batch of such matrices on a device of so many SMs.
Finishing finishing_for(const Extent& extent, std::int64_t batch, const KernelSignature& signature, int sms);

// Has a grid as many blocks as the problem's C takes?
bool finishing_serves(const GemmProblem& problem);

// Adds the step behind the sums that plan.geometry().finished tells of.
void add_finishing(PlanBuilder& plan);

}  // namespace tmm
