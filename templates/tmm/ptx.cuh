// PTX instructions behind functions of the same name. The emulated device has its own version of this file.
#pragma once

#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/tensor_map.h"

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

// 2^x with a relative error below 2^-22, and 1 / x within one unit in the last place. What is below 2^-126 counts, and comes out, as 0.
__device__ inline float ex2_approx(float x) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
__device__ inline float rcp_approx(float x) {
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// Four of the eight bytes of two words: the selector's hexadecimal digits name them, the lowest byte's first.
__device__ inline unsigned prmt(unsigned first, unsigned second, unsigned selector) {
    unsigned result;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(first), "r"(second), "r"(selector));
    return result;
}

// Brings the cache line to the L2 cache in the background.
__device__ inline void prefetch_l2(const void* address) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

// Copies from global to shared memory in the background: source_bytes are read, the rest of the width is filled with zeros.
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

// Loads four 8 x 8 matrices of 16-bit elements from shared memory to a warp's registers. Lane l points at row l % 8 of matrix l / 8, 16
// bytes; of each matrix it gets elements 2 (l % 4) and the next of row l / 4.
__device__ inline void ldmatrix_x4(unsigned (&fragments)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fragments[0]), "=r"(fragments[1]), "=r"(fragments[2]), "=r"(fragments[3])
                 : "r"(shared_address(row))
                 : "memory");
}
// The same for the transposed matrices.
__device__ inline void ldmatrix_x4_trans(unsigned (&fragments)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fragments[0]), "=r"(fragments[1]), "=r"(fragments[2]), "=r"(fragments[3])
                 : "r"(shared_address(row))
                 : "memory");
}

// sums += A * B by a warp: 16 x 16 times 16 x 8. Which lane holds what is drawn in families/mma/kernel.cuh.
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
// The same for floats, of which the tensor cores take as much as TF32 has: 16 x 8 times 8 x 8.
__device__ inline void mma_m16n8k8_tf32(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The same with whole numbers, exact modulo 2^32: 16 x 32 bytes times 32 x 8.
__device__ inline void mma_m16n8k32_s8(unsigned (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The same in double: 16 x 16 times 16 x 8, added in the order of k, each addition rounded. Compute capability 8.x multiplies 8 x 4 by 4
// x 8.
__device__ inline void mma_m16n8k16_f64(double (&sums)[4], const double (&a)[8], double b0, double b1, double b2, double b3) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, "
        "{%0, %1, %2, %3};"
        : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b0), "d"(b1), "d"(b2), "d"(b3));
#else
    const double b[4] = {b0, b1, b2, b3};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int row = i % 2 * 2;
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(sums[row]), "+d"(sums[row + 1])
            : "d"(a[i]), "d"(b[i / 2]));
    }
#endif
}

// Loads a word of shared memory, whose address shared_address() gives.
__device__ inline unsigned ld_shared(unsigned address) {
    unsigned word;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
    return word;
}

// The block's place in its cluster.
__device__ inline unsigned cluster_ctarank() {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

// Waits for all threads of the cluster; what they wrote to shared memory is then seen by all. That takes a fence, which waits for all that
// the thread has written to global memory, too.
__device__ inline void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The same without the fence: what they wrote need not be seen.
__device__ inline void cluster_meet() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// What the thread has written is seen by whoever knows, by a barrier, that it came here.
__device__ inline void fence_acq_rel_cluster() {
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
}

// The same place in the shared memory of the cluster's block of that rank.
template <class T>
__device__ inline const T* mapa(const T* shared, int rank) {
    unsigned long long address;
    asm("mapa.u64 %0, %1, %2;" : "=l"(address) : "l"(shared), "r"(rank));
    return reinterpret_cast<const T*>(address);
}

// Stores words to global memory in one access; left to itself, the compiler takes the access apart in large kernels. This is for words that
// the kernel does not read again: the compiler may move its own accesses across.
__device__ inline void st_global(void* destination, const unsigned (&words)[2]) {
    asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(destination), "r"(words[0]), "r"(words[1]));
}
__device__ inline void st_global(void* destination, const unsigned (&words)[4]) {
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(destination), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]));
}

// Loads or stores a whole V at once, at a multiple of its alignment: a GPU faults at any other address. The emulated device checks the
// address, and copies in a way that needs no alignment.
template <class V>
__device__ inline V ld(const void* source) {
    return *static_cast<const V*>(source);
}
template <class V>
__device__ inline void st(void* destination, const V& value) {
    *static_cast<V*>(destination) = value;
}

// Loads words that no one reads again soon, whose place the L2 cache gives away first.
__device__ inline void ld_global_evict_first(unsigned (&words)[4], const void* source) {
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "l"(source), "l"(policy));
}

// Waits for `threads` threads that come to barrier `id`, whole warps of the block.
__device__ inline void bar_sync(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// True in one thread of the warp, which is the same each time.
__device__ inline bool elect_sync() {
    unsigned elected;
    asm volatile(
        "{\n\t"
        ".reg .pred elected;\n\t"
        "elect.sync _|elected, 0xffffffff;\n\t"
        "selp.u32 %0, 1, 0, elected;\n\t"
        "}"
        : "=r"(elected));
    return elected != 0;
}

// Raises or lowers the registers of each thread of a warpgroup.
template <int registers>
__device__ inline void setmaxnreg_inc() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ inline void setmaxnreg_dec() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

// A barrier in shared memory whose phase ends when `arrivals` have come and the bytes that were announced have landed.
__device__ inline void mbarrier_init(unsigned long long* barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
// The copy engine and the other blocks of the cluster then see barriers that this thread has made.
__device__ inline void fence_mbarrier_init() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void mbarrier_arrive_expect_tx(unsigned long long* barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}
__device__ inline void mbarrier_arrive(unsigned long long* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
// The first of a block's barriers, as any block of its cluster may reach it.
struct ClusterBarriers {
    unsigned address;
};
// The barriers that stand in the block of that rank where this block's barriers stand.
__device__ inline ClusterBarriers mapa_barriers(unsigned long long* barriers, int rank) {
    ClusterBarriers mapped;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped.address) : "r"(shared_address(barriers)), "r"(rank));
    return mapped;
}
__device__ inline void mbarrier_arrive_cluster(ClusterBarriers barriers, int barrier) {
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(
                     barriers.address + static_cast<unsigned>(barrier * static_cast<int>(sizeof(unsigned long long))))
                 : "memory");
}
// True when the phase of that parity has ended; waits a while for it.
__device__ inline bool mbarrier_try_wait_parity(unsigned long long* barrier, unsigned parity) {
    unsigned ended;
    asm volatile(
        "{\n\t"
        ".reg .pred ended;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, ended;\n\t"
        "}"
        : "=r"(ended)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
    return ended != 0;
}

__device__ inline void prefetch_tensormap(const TensorMap* map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
// A box of the map's matrix lands in shared memory and counts on the barrier; what of it lies outside is zeros.
__device__ inline void cp_async_bulk_tensor_3d(void* destination, const TensorMap* map, int x, int y, int z, unsigned long long* barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(
                     shared_address(destination)),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(barrier))
                 : "memory");
}
// The same in every block of the cluster whose rank's bit is set, at the same place.
__device__ inline void cp_async_bulk_tensor_3d_multicast(void* destination, const TensorMap* map, int x, int y, int z,
                                                         unsigned long long* barrier, unsigned short blocks) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(shared_address(destination)),
        "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(barrier)), "h"(blocks)
        : "memory");
}

// What this thread has written to shared memory by ordinary stores is seen by the copy engine when it is told to store it.
__device__ inline void fence_proxy_async() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
// What this thread has written to global memory, or knows to be written, is seen by copies of the copy engine that come after.
__device__ inline void fence_proxy_async_global() {
    asm volatile("fence.proxy.async.global;" ::: "memory");
}
// The least of a warp's values, the same for all of its lanes, as ptxas knows.
__device__ inline unsigned redux_min(unsigned value) {
    unsigned least;
    asm volatile("redux.sync.min.u32 %0, %1, 0xffffffff;" : "=r"(least) : "r"(value));
    return least;
}
// A word that blocks tell each other by: who reads it sees what was written, and known to be written, before it was stored.
__device__ inline void st_release_gpu(unsigned* word, unsigned value) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}
__device__ inline unsigned ld_acquire_gpu(const unsigned* word) {
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}
// A box from shared memory goes to the map's matrix, as far as it lies within, in the background, in a group of the thread's.
__device__ inline void cp_async_bulk_tensor_3d_store(const TensorMap* map, int x, int y, int z, const void* source) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map), "r"(x), "r"(y), "r"(z),
                 "r"(shared_address(source))
                 : "memory");
}
// A box comes to the L2 cache.
__device__ inline void cp_async_bulk_prefetch_tensor_3d(const TensorMap* map, int x, int y, int z) {
    asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%0, {%1, %2, %3}];" ::"l"(map), "r"(x), "r"(y), "r"(z) : "memory");
}
__device__ inline void cp_async_bulk_commit_group() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// Waits until the boxes of all but this thread's last `pending` groups have been read from shared memory.
template <int pending>
__device__ inline void cp_async_bulk_wait_group_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}

// sums += left * right: 64 x k of one matrix times k x n of the other, both in shared memory, by the four warps of a warpgroup, in
// the background; k is 32 bytes. adds = false: sums = left * right, whatever they held. transpose: rows of the matrix run along M or N.
// The PTX names every register of the sums, so that the generator writes the instruction that a kernel needs into the kernel's text.
template <ElementType type, int n, bool transpose_left, bool transpose_right, class Sum>
__device__ void wgmma_mma_async(Sum (&sums)[n / 2], unsigned long long left, unsigned long long right, bool adds);

// The same with the left matrix, 64 x 32 bytes of k, in the warpgroup's registers (families/wgmma/fragments.h), which nobody writes before
// the instruction has ended.
template <ElementType type, int n>
__device__ void wgmma_mma_async_fragments(float (&sums)[n / 2], const unsigned (&left)[4], unsigned long long right, bool adds);

// A warpgroup calls this before the first wgmma, and after ordinary instructions have touched the sums or fragments.
__device__ inline void wgmma_fence() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void wgmma_commit_group() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int pending>
__device__ inline void wgmma_wait_group() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

// Rounds two floats to nearest; the first stands in the lower half.
template <ElementType type>
__device__ inline unsigned cvt_rn_pair(float lower, float upper) {
    unsigned pair;
    if constexpr (type == ElementType::f16)
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(upper), "f"(lower));
    else
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(upper), "f"(lower));
    return pair;
}

// Stores four 8 x 8 matrices of 16-bit elements: of each matrix lane l holds elements 2 (l % 4) and the next of row l / 4, and it gives the
// address of the 16 bytes where row l % 8 of matrix l / 8 goes; transposed: where column l % 8 goes.
template <bool transposed>
__device__ inline void stmatrix_x4(void* row, const unsigned (&pairs)[4]) {
    if constexpr (transposed)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)), "r"(pairs[0]),
                     "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3])
                     : "memory");
    else
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)), "r"(pairs[0]),
                     "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3])
                     : "memory");
}
// The same for two matrices; lanes 0 to 15 give the addresses.
template <bool transposed>
__device__ inline void stmatrix_x2(void* row, const unsigned (&pairs)[2]) {
    if constexpr (transposed)
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(shared_address(row)), "r"(pairs[0]),
                     "r"(pairs[1])
                     : "memory");
    else
        asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(shared_address(row)), "r"(pairs[0]), "r"(pairs[1])
                     : "memory");
}

// Returns threadIdx.x. What follows from it is not computed ahead of a loop that needs the registers.
__device__ inline int thread_here() {
    unsigned thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return static_cast<int>(thread);
}

// The assemblers before CUDA 12.9 make wgmma instructions wait for each other where nothing has set their sums (remark C7515).
constexpr bool kWgmmaTakesUnsetSums = __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1209;

// No instruction that reads or writes these registers moves across this. It stands between a wait for wgmma and the instructions that use
// its sums, and between the instructions that change sums and wgmma's fence. To the compiler both are just instructions that name no
// registers.
template <int count>
__device__ inline void hold(float (&sums)[count]) {
#pragma unroll
    for (int i = 0; i < count; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}
template <int count>
__device__ inline void hold(unsigned (&sums)[count]) {
#pragma unroll
    for (int i = 0; i < count; ++i) asm volatile("" : "+r"(sums[i])::"memory");
}

// Waits until the kernels before this one have ended and what they wrote is there, where this one began earlier. Before compute
// capability 9.0 none does.
__device__ inline void griddepcontrol_wait() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// Once every block has called it or ended, the next kernel may begin, if it was launched as one that waits itself.
__device__ inline void griddepcontrol_launch_dependents() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

}  // namespace tmm::ptx
