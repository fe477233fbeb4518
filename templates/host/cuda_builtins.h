// CUDA's built-ins for the CPU: the host's compiler reads this before a kernel's source. Only what templates use is here, and the
// other shuffles and votes.
#pragma once

#include "host/cuda_intrinsics.h"
#include "host/emulation.h"

#define __global__
#define __device__
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) alignas(bytes)

namespace tmm::host {

// This is set once, when the shared object is loaded.
inline const Services* services = nullptr;

// The result is constant as far as one kernel's thread can see.
[[gnu::const, gnu::noinline]] inline const Thread& thread() {
    return *services->current_thread();
}

// A GPU faults at an access whose address is no multiple of the width.
inline void check_aligned(const char* access, const void* address, unsigned alignment, Site site) {
    if (reinterpret_cast<unsigned long>(address) % alignment != 0) services->misaligned(access, address, alignment, site);
}

template <class To, class From>
inline To same_bits(const From& from) {
    static_assert(sizeof(To) == sizeof(From));
    return __builtin_bit_cast(To, from);
}

template <class T>
inline unsigned long long to_word(T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "warp operations move 4 or 8 bytes");
    if constexpr (sizeof(T) == 4)
        return same_bits<unsigned>(value);
    else
        return same_bits<unsigned long long>(value);
}
template <class T>
inline T from_word(unsigned long long word) {
    if constexpr (sizeof(T) == 4)
        return same_bits<T>(static_cast<unsigned>(word));
    else
        return same_bits<T>(word);
}

inline int lane() {
    const Thread& t = thread();
    return static_cast<int>((t.thread_index.x + t.block_dim.x * (t.thread_index.y + t.block_dim.y * t.thread_index.z)) % 32);
}

template <class T>
inline T shuffle(unsigned mask, T value, int source_lane, Site site) {
    return from_word<T>(services->warp(WarpOperation::shuffle, mask, to_word(value), source_lane, site));
}

}  // namespace tmm::host

extern "C" __attribute__((visibility("default"))) inline __attribute__((used)) void tmm_host_connect(const tmm::host::Services* services) {
    tmm::host::services = services;
}

#define threadIdx (tmm::host::thread().thread_index)
#define blockIdx (tmm::host::thread().block_index)
#define blockDim (tmm::host::thread().block_dim)
#define gridDim (tmm::host::thread().grid_dim)
constexpr int warpSize = 32;

// The caller's place comes along as a default argument, for messages.
#define TMM_HOST_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(TMM_HOST_SITE) {
    tmm::host::services->sync_threads({file, line});
}
inline void __syncwarp(unsigned mask = 0xffffffffu, TMM_HOST_SITE) {
    tmm::host::services->warp(tmm::host::WarpOperation::sync, mask, 0, 0, {file, line});
}
inline unsigned __float_as_uint(float value) {
    return tmm::host::same_bits<unsigned>(value);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, TMM_HOST_SITE) {
    return static_cast<unsigned>(tmm::host::services->warp(tmm::host::WarpOperation::ballot, mask, predicate != 0, 0, {file, line}));
}
inline int __any_sync(unsigned mask, int predicate, TMM_HOST_SITE) {
    return __ballot_sync(mask, predicate, file, line) != 0;
}
inline int __all_sync(unsigned mask, int predicate, TMM_HOST_SITE) {
    return __ballot_sync(mask, !predicate, file, line) == 0;
}

// Returns the value of the lane that PTX's shfl.sync reads from; a segment is `width` lanes.
template <class T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, TMM_HOST_SITE) {
    const int first = tmm::host::lane() & ~(width - 1);
    return tmm::host::shuffle(mask, value, first | (source & (width - 1)), {file, line});
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, TMM_HOST_SITE) {
    const int lane = tmm::host::lane();
    const int source = lane - static_cast<int>(delta);
    return tmm::host::shuffle(mask, value, source >= (lane & ~(width - 1)) ? source : lane, {file, line});
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, TMM_HOST_SITE) {
    const int lane = tmm::host::lane();
    const int source = lane + static_cast<int>(delta);
    return tmm::host::shuffle(mask, value, source <= (lane | (width - 1)) ? source : lane, {file, line});
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, TMM_HOST_SITE) {
    const int lane = tmm::host::lane();
    const int source = lane ^ lane_mask;
    return tmm::host::shuffle(mask, value, source <= (lane | (width - 1)) ? source : lane, {file, line});
}

// One thread of a launch runs at a time and none is interrupted, which makes these atomic.
template <class T>
inline T atomicAdd(T* address, decltype(T{} + T{}) value) {
    const T old = *address;
    *address = static_cast<T>(old + value);
    return old;
}
template <class T>
inline T atomicMax(T* address, decltype(T{} + T{}) value) {
    const T old = *address;
    if (value > old) *address = static_cast<T>(value);
    return old;
}
template <class T>
inline T atomicMin(T* address, decltype(T{} + T{}) value) {
    const T old = *address;
    if (value < old) *address = static_cast<T>(value);
    return old;
}

inline int __float_as_int(float x) {
    return tmm::host::same_bits<int>(x);
}
inline float __int_as_float(int x) {
    return tmm::host::same_bits<float>(x);
}
inline float __uint_as_float(unsigned x) {
    return tmm::host::same_bits<float>(x);
}
inline long long __double_as_longlong(double x) {
    return tmm::host::same_bits<long long>(x);
}
inline double __longlong_as_double(long long x) {
    return tmm::host::same_bits<double>(x);
}
