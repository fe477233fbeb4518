// PTX instructions behind functions of the same name. The emulated device has its own version of this file.
#pragma once

namespace tmm::ptx {

__device__ inline unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ inline float cvt_f32_f16(unsigned short value) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value));
    return result;
}
__device__ inline unsigned short cvt_rn_f16_f32(float value) {
    unsigned short result;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(value));
    return result;
}
__device__ inline unsigned short cvt_rn_bf16_f32(float value) {
#if __CUDA_ARCH__ >= 800
    unsigned short result;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(value));
    return result;
#else
    // The instruction came with compute capability 8.0.
    const unsigned bits = static_cast<unsigned>(__float_as_int(value));
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#endif
}

// Copy from global to shared memory in the background: source_bytes are read, the rest of the width is filled with zeros.
__device__ inline void cp_async_4(void* destination, const void* source, int source_bytes) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(destination)), "l"(source), "r"(source_bytes)
                 : "memory");
}
__device__ inline void cp_async_8(void* destination, const void* source, int source_bytes) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared_address(destination)), "l"(source), "r"(source_bytes)
                 : "memory");
}
__device__ inline void cp_async_16(void* destination, const void* source, int source_bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(destination)), "l"(source), "r"(source_bytes)
                 : "memory");
}

// Closes the group of the copies issued since the last call.
__device__ inline void cp_async_commit_group() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most `pending` of this thread's groups are still under way.
template <int pending>
__device__ inline void cp_async_wait_group() {
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// Four 8 x 8 matrices of 16-bit elements from shared memory to a warp's registers. Lane l points at row l % 8 of matrix l / 8, 16 bytes;
// of each matrix it gets elements 2 (l % 4) and the next of row l / 4.
__device__ inline void ldmatrix_x4(unsigned (&fragments)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fragments[0]), "=r"(fragments[1]), "=r"(fragments[2]), "=r"(fragments[3])
                 : "r"(shared_address(row))
                 : "memory");
}
// The same of the transposed matrices.
__device__ inline void ldmatrix_x4_trans(unsigned (&fragments)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fragments[0]), "=r"(fragments[1]), "=r"(fragments[2]), "=r"(fragments[3])
                 : "r"(shared_address(row))
                 : "memory");
}

// sums += A * B by a warp: 16 x 16 times 16 x 8. Which lane holds what is drawn in mma.cuh.
__device__ inline void mma_m16n8k16_f16(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline void mma_m16n8k16_bf16(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The block's place in its cluster.
__device__ inline unsigned cluster_ctarank() {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

// Waits for all threads of the cluster; what they wrote to shared memory is then seen by all.
__device__ inline void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The same place in the shared memory of the cluster's block of that rank.
template <class T>
__device__ inline const T* mapa(const T* shared, int rank) {
    unsigned long long address;
    asm("mapa.u64 %0, %1, %2;" : "=l"(address) : "l"(shared), "r"(rank));
    return reinterpret_cast<const T*>(address);
}

}  // namespace tmm::ptx
