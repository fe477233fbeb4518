// A special register read in its place: PTX for kernels that have no registers to spare.
#pragma once

namespace tmm::ptx {

// threadIdx.x. What follows from it is not computed ahead of a loop that needs the registers.
__device__ inline int thread_here() {
    unsigned thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return static_cast<int>(thread);
}

}  // namespace tmm::ptx
