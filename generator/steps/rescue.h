// The step that multiplies by FMAs where planes did not fit (templates/tmm/steps/rescue).
#pragma once

#include <cstddef>

#include "generator/plan/launch_plan.h"

namespace tmm {

std::size_t bind_rescue(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments);

}  // namespace tmm
