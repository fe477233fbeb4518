// PTX by which the kernels of a plan hand over to each other (programmatic dependent launch).
#pragma once

namespace tmm::ptx {

// A kernel of a plan, but for the first, may begin while the one before it ends. Waits until that one has ended and what it wrote is
// there; each thread that reads or writes global memory calls it first. Before compute capability 9.0 there is nothing to wait for.
__device__ inline void griddepcontrol_wait() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// Once every block has called it or ended, the next kernel may begin. Only where that one's blocks, of which SMs that are free first
// would get more, either fill an SM each or are many.
__device__ inline void griddepcontrol_launch_dependents() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

}  // namespace tmm::ptx
