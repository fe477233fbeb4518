// Where a kernel stops for the one before it in its stream.
#pragma once

#include "tmm/ptx.cuh"

namespace tmm {

// A kernel may begin while the one before it ends: its launch, its barriers and its addresses are then ready when its operands are.
// Each thread calls this before it first reads or writes global memory. The next kernel may come only after the wait, so that no more
// than two are there at once, and the end of one means the end of all before it.
__device__ inline void wait_for_previous_kernel() {
    ptx::griddepcontrol_wait();
    ptx::griddepcontrol_launch_dependents();
}

}  // namespace tmm
