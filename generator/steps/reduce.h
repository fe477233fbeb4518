// The step that adds up the parts of K that split-K has multiplied apart (templates/tmm/steps/reduce).
#pragma once

#include <cstddef>

#include "generator/plan/launch_plan.h"

namespace tmm {

std::size_t bind_reduce(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments);

}  // namespace tmm
