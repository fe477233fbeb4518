// A multiplication of matrices in host memory: allocates on the device, copies, multiplies, copies back, frees.
#pragma once

#include "generator/plan/launch_plan.h"
#include "runtime/select/plan_request.h"

namespace tmm {

class RuntimeHandle;

// call's pointers are host memory; the problem has no batch, arrays of pointers, bias or residual. C is complete on return; what stands
// between its rows, and the other triangle of a lower or upper result, is as it was. Throws std::bad_alloc where the device's or the
// host's memory is short.
void host_gemm(RuntimeHandle& handle, const PlanRequest& request, const GemmCall& call);

}  // namespace tmm
