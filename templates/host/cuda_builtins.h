// CUDA's built-ins for the CPU: the host's compiler reads this before a kernel's source. Only what templates use is here.
#pragma once

#include "host/emulation.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) alignas(bytes)

using size_t = decltype(sizeof(0));

namespace tmm::host {

// Set once, when the shared object is loaded.
inline const Services* services = nullptr;

// Constant as far as one kernel's thread can see.
[[gnu::const, gnu::noinline]] inline const Thread& thread() {
    return *services->current_thread();
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
inline constexpr int warpSize = 32;

struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(8) int2 {
    int x, y;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(16) double2 {
    double x, y;
};
inline float2 make_float2(float x, float y) {
    return {x, y};
}
inline float4 make_float4(float x, float y, float z, float w) {
    return {x, y, z, w};
}
inline int2 make_int2(int x, int y) {
    return {x, y};
}
inline int4 make_int4(int x, int y, int z, int w) {
    return {x, y, z, w};
}
inline double2 make_double2(double x, double y) {
    return {x, y};
}

// The caller's place comes along as a default argument, for messages.
#define TMM_HOST_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(TMM_HOST_SITE) {
    tmm::host::services->sync_threads({file, line});
}
inline void __syncwarp(unsigned mask = 0xffffffffu, TMM_HOST_SITE) {
    tmm::host::services->warp(tmm::host::WarpOperation::sync, mask, 0, 0, {file, line});
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

// The lane read from, as PTX's shfl.sync defines it; a segment is `width` lanes.
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
[[noreturn]] inline void __trap(TMM_HOST_SITE) {
    tmm::host::services->fail("__trap()", {file, line});
    __builtin_unreachable();
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
template <class T>
inline T atomicOr(T* address, decltype(T{} + T{}) value) {
    const T old = *address;
    *address = static_cast<T>(old | value);
    return old;
}
template <class T>
inline T atomicExch(T* address, decltype(T{} + T{}) value) {
    const T old = *address;
    *address = static_cast<T>(value);
    return old;
}
template <class T>
inline T atomicCAS(T* address, decltype(T{} + T{}) expected, decltype(T{} + T{}) value) {
    const T old = *address;
    if (old == static_cast<T>(expected)) *address = static_cast<T>(value);
    return old;
}
inline void __threadfence() {}
inline void __threadfence_block() {}

// CUDA overloads the C names by type; declaring these few spares every kernel the standard headers.
#define TMM_HOST_FLOAT_DOUBLE(name)    \
    inline double name(double x) {     \
        return __builtin_##name(x);    \
    }                                  \
    inline float name(float x) {       \
        return __builtin_##name##f(x); \
    }                                  \
    inline float name##f(float x) {    \
        return __builtin_##name##f(x); \
    }
TMM_HOST_FLOAT_DOUBLE(sqrt)
TMM_HOST_FLOAT_DOUBLE(exp)
TMM_HOST_FLOAT_DOUBLE(log)
TMM_HOST_FLOAT_DOUBLE(log1p)
TMM_HOST_FLOAT_DOUBLE(sin)
TMM_HOST_FLOAT_DOUBLE(cos)
TMM_HOST_FLOAT_DOUBLE(tanh)
TMM_HOST_FLOAT_DOUBLE(erf)
TMM_HOST_FLOAT_DOUBLE(fabs)
TMM_HOST_FLOAT_DOUBLE(floor)
TMM_HOST_FLOAT_DOUBLE(ceil)
TMM_HOST_FLOAT_DOUBLE(rint)
#undef TMM_HOST_FLOAT_DOUBLE
inline float fmaf(float x, float y, float z) {
    return __builtin_fmaf(x, y, z);
}
inline float fma(float x, float y, float z) {
    return __builtin_fmaf(x, y, z);
}
inline double fma(double x, double y, double z) {
    return __builtin_fma(x, y, z);
}
inline float __fmaf_rn(float x, float y, float z) {
    return __builtin_fmaf(x, y, z);
}
inline double __fma_rn(double x, double y, double z) {
    return __builtin_fma(x, y, z);
}
inline float __fadd_rn(float x, float y) {
    return x + y;
}
inline float __fmul_rn(float x, float y) {
    return x * y;
}
inline double __dadd_rn(double x, double y) {
    return x + y;
}
inline double __dmul_rn(double x, double y) {
    return x * y;
}
inline float fmaxf(float x, float y) {
    return __builtin_fmaxf(x, y);
}
inline float fminf(float x, float y) {
    return __builtin_fminf(x, y);
}
inline double fmax(double x, double y) {
    return __builtin_fmax(x, y);
}
inline double fmin(double x, double y) {
    return __builtin_fmin(x, y);
}
inline bool isnan(float x) {
    return __builtin_isnan(x);
}
inline bool isnan(double x) {
    return __builtin_isnan(x);
}
inline bool isinf(float x) {
    return __builtin_isinf(x);
}
inline bool isinf(double x) {
    return __builtin_isinf(x);
}
inline bool isfinite(float x) {
    return __builtin_isfinite(x);
}
inline bool isfinite(double x) {
    return __builtin_isfinite(x);
}
template <class T>
inline T min(T x, T y) {
    return y < x ? y : x;
}
template <class T>
inline T max(T x, T y) {
    return x < y ? y : x;
}
inline float min(float x, float y) {
    return __builtin_fminf(x, y);
}
inline float max(float x, float y) {
    return __builtin_fmaxf(x, y);
}
inline double min(double x, double y) {
    return __builtin_fmin(x, y);
}
inline double max(double x, double y) {
    return __builtin_fmax(x, y);
}
inline int abs(int x) {
    return x < 0 ? -x : x;
}

inline unsigned __float_as_uint(float x) {
    return tmm::host::same_bits<unsigned>(x);
}
inline int __float_as_int(float x) {
    return tmm::host::same_bits<int>(x);
}
inline float __uint_as_float(unsigned x) {
    return tmm::host::same_bits<float>(x);
}
inline float __int_as_float(int x) {
    return tmm::host::same_bits<float>(x);
}
inline long long __double_as_longlong(double x) {
    return tmm::host::same_bits<long long>(x);
}
inline double __longlong_as_double(long long x) {
    return tmm::host::same_bits<double>(x);
}
inline int __popc(unsigned x) {
    return __builtin_popcount(x);
}
inline int __clz(unsigned x) {
    return x ? __builtin_clz(x) : 32;
}
inline int __ffs(unsigned x) {
    return x ? __builtin_ctz(x) + 1 : 0;
}
template <class T>
inline T __ldg(const T* address) {
    return *address;
}
