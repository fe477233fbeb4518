// The step that adds up the parts of the tiles that stream-K's blocks have shared (templates/tmm/steps/fixup).
#pragma once

#include <cstddef>

#include "generator/plan/launch_plan.h"

namespace tmm {

std::size_t bind_fixup(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments);

}  // namespace tmm
