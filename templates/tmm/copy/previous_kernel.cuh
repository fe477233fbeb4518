// A kernel waits here for the one before it in its stream (programmatic dependent launch).
#pragma once

#include "tmm/ptx.cuh"

namespace tmm {

// A kernel may begin while the one before it ends: its launch, its barriers and its addresses are then ready when its operands are.
// Each thread calls this before it first reads or writes global memory. The next kernel may come only after the wait, so that the end of
// one means the end of all before it.
__device__ inline void wait_for_previous_kernel() {
    ptx::griddepcontrol_wait();
    ptx::griddepcontrol_launch_dependents();
}

// Strips of C that a product leaves (trim) run while the product runs: it writes nothing of theirs, and when its last block has begun, and
// they may come, the kernel that it waited for has ended. A strip's kernel calls the first of these functions before its work, and lets the
// next kernel come at once; it calls the second after its work, so that its end, too, means the end of all before it. One block that stays
// until then is enough.
__device__ inline void begin_beside_previous_kernel() {
    ptx::griddepcontrol_launch_dependents();
}
__device__ inline void end_after_previous_kernel() {
    if (blockIdx.x == 0) ptx::griddepcontrol_wait();
}

}  // namespace tmm
