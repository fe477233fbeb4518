// What the copy engine is told of a step's matrices: LaunchStep::tensor_maps of each family that it serves.
#pragma once

#include <cstddef>

#include "generator/plan/launch_plan.h"
#include "generator/plan/tensor_map_request.h"

namespace tmm {

// arguments: what the step's bind wrote.
TensorMapRequests wgmma_tensor_maps(const LaunchStep& step, const std::byte* arguments);
TensorMapRequests simt_tensor_maps(const LaunchStep& step, const std::byte* arguments);
TensorMapRequests skinny_tensor_maps(const LaunchStep& step, const std::byte* arguments);

}  // namespace tmm
