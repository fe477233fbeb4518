// The step that multiplies by FMAs where planes did not fit (templates/tmm/steps/rescue).
#pragma once

#include <cstddef>

#include "generator/plan/launch_plan.h"

namespace tmm {

std::size_t bind_rescue(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments);

}  // namespace tmm
