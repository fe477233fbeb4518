// A multiplication of matrices in host memory: allocates on the device, copies, multiplies, copies back, frees.
#pragma once

#include "generator/plan/launch_plan.h"

namespace tmm {

class RuntimeHandle;

// call's pointers are host memory. C is complete on return; what stands between its rows is neither read nor written.
// Throws std::bad_alloc where the device's or the host's memory is short.
void host_gemm(RuntimeHandle& handle, const GemmProblem& problem, const GemmCall& call);

}  // namespace tmm
