// What a simt kernel is told: Product::bind and Product::tensor_maps of the family.
#pragma once

#include <cstddef>

#include "generator/plan/launch_plan.h"

namespace tmm {

std::size_t bind_simt(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments);
TensorMapRequests simt_tensor_maps(const LaunchStep& step, const std::byte* arguments);

}  // namespace tmm
