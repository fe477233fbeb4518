// PTX that holds values in their place, where the compiler's freedom to move what follows from them is too large.
#pragma once

namespace tmm::ptx {

// threadIdx.x. What follows from it is not computed ahead of a loop that needs the registers.
__device__ inline int thread_here() {
    unsigned thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return static_cast<int>(thread);
}

// No instruction that reads or writes these registers crosses: between a wait for wgmma and those that use its sums, and between those
// that change sums and wgmma's fence. To the compiler both are just instructions that name no registers.
template <int count>
__device__ inline void hold(float (&sums)[count]) {
#pragma unroll
    for (int i = 0; i < count; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

}  // namespace tmm::ptx
