// The kernels around a product of wgmma's: operands padded, or written as planes, and what serves where planes do not fit.
#pragma once

#include "generator/plan/plan_builder.h"

namespace tmm {

void add_wgmma_steps_before(PlanBuilder& plan);
void add_wgmma_steps_behind(PlanBuilder& plan);

}  // namespace tmm
