// The last step of a product by planes: FP32 FMAs, where the step before it refused since some line does not fit its planes (Inf, NaN,
// too wide a range). Elsewhere it ends at once. So no call waits for the host to know.
#pragma once

#include "tmm/ptx_grid.cuh"
#include "tmm/rescue.h"
#include "tmm/simt.cuh"

namespace tmm::rescue {

template <KernelSignature signature, KernelConfig config>
__device__ void kernel(const RescueArgs& args) {
    static_assert(first_violation(config, signature) == nullptr);
    ptx::griddepcontrol_wait();
    if ((*args.unfit_a | *args.unfit_b) == 0) return;
    simt::kernel<signature, config>(args);
}

}  // namespace tmm::rescue
