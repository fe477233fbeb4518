// The step that adds up the parts of the tiles that stream-K's blocks have shared (templates/tmm/steps/fixup).
#pragma once

#include "generator/plan/plan_builder.h"

namespace tmm {

void add_fixup(PlanBuilder& plan);

}  // namespace tmm
