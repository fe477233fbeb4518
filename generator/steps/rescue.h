// The step that multiplies by FMAs where planes did not fit (templates/tmm/steps/rescue).
#pragma once

#include "generator/plan/plan_builder.h"

namespace tmm {

void add_rescue(PlanBuilder& plan);

}  // namespace tmm
