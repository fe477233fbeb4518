// CUDA's intrinsic functions of floats and integers for the CPU, which are not rounded as a GPU's fast ones are but exact; and the names of
// those that only a GPU has.
#pragma once

#include "host/cuda_math.h"

namespace tmm::host {

// What a GPU does where a float does not fit: the nearest number, and 0 for NaN.
template <class To>
inline To converted(double x, To least, To most) {
    if (x != x) return 0;
    if (x <= static_cast<double>(least)) return least;
    return x >= static_cast<double>(most) ? most : static_cast<To>(x);
}

}  // namespace tmm::host

// The fast functions of a GPU, here as exact as the others.
inline float __cosf(float x) {
    return cosf(x);
}
inline float __exp10f(float x) {
    return exp10f(x);
}
inline float __expf(float x) {
    return expf(x);
}
inline float __fdividef(float x, float y) {
    return x / y;
}
inline float __log10f(float x) {
    return log10f(x);
}
inline float __log2f(float x) {
    return log2f(x);
}
inline float __logf(float x) {
    return logf(x);
}
inline float __powf(float x, float y) {
    return powf(x, y);
}
inline float __sinf(float x) {
    return sinf(x);
}
inline void __sincosf(float x, float* sine, float* cosine) {
    sincosf(x, sine, cosine);
}
inline float __tanf(float x) {
    return tanf(x);
}
inline float __tanhf(float x) {
    return tanhf(x);
}
inline float __saturatef(float x) {
    return x > 0 ? x < 1 ? x : 1.0f : 0.0f;
}

// Rounded to nearest, as the CPU computes; kernels are compiled without fused operations of the compiler's own.
inline float __fadd_rn(float x, float y) {
    return x + y;
}
inline float __fsub_rn(float x, float y) {
    return x - y;
}
inline float __fmul_rn(float x, float y) {
    return x * y;
}
inline float __fdiv_rn(float x, float y) {
    return x / y;
}
inline float __fmaf_rn(float x, float y, float z) {
    return fmaf(x, y, z);
}
inline float __frcp_rn(float x) {
    return 1.0f / x;
}
inline float __fsqrt_rn(float x) {
    return sqrtf(x);
}
inline float __frsqrt_rn(float x) {
    return static_cast<float>(1.0 / sqrt(static_cast<double>(x)));
}
inline double __dadd_rn(double x, double y) {
    return x + y;
}
inline double __dsub_rn(double x, double y) {
    return x - y;
}
inline double __dmul_rn(double x, double y) {
    return x * y;
}
inline double __ddiv_rn(double x, double y) {
    return x / y;
}
inline double __fma_rn(double x, double y, double z) {
    return fma(x, y, z);
}
inline double __drcp_rn(double x) {
    return 1.0 / x;
}
inline double __dsqrt_rn(double x) {
    return sqrt(x);
}

#define TMM_HOST_CONVERSIONS(suffix, rounded)                                                                \
    inline int __float2int_##suffix(float x) {                                                               \
        return tmm::host::converted<int>(rounded(x), -0x7fffffff - 1, 0x7fffffff);                           \
    }                                                                                                        \
    inline unsigned __float2uint_##suffix(float x) {                                                         \
        return tmm::host::converted<unsigned>(rounded(x), 0, 0xffffffff);                                    \
    }                                                                                                        \
    inline long long __float2ll_##suffix(float x) {                                                          \
        return tmm::host::converted<long long>(rounded(x), -0x7fffffffffffffffLL - 1, 0x7fffffffffffffffLL); \
    }                                                                                                        \
    inline unsigned long long __float2ull_##suffix(float x) {                                                \
        return tmm::host::converted<unsigned long long>(rounded(x), 0, 0xffffffffffffffffULL);               \
    }
TMM_HOST_CONVERSIONS(rn, rintf)
TMM_HOST_CONVERSIONS(rd, floorf)
TMM_HOST_CONVERSIONS(ru, ceilf)
TMM_HOST_CONVERSIONS(rz, truncf)
#undef TMM_HOST_CONVERSIONS
inline float __int2float_rn(int x) {
    return static_cast<float>(x);
}
inline float __uint2float_rn(unsigned x) {
    return static_cast<float>(x);
}
inline float __ll2float_rn(long long x) {
    return static_cast<float>(x);
}
inline float __ull2float_rn(unsigned long long x) {
    return static_cast<float>(x);
}
inline float __double2float_rn(double x) {
    return static_cast<float>(x);
}

inline int __popc(unsigned x) {
    return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x) {
    return __builtin_popcountll(x);
}
inline int __clz(int x) {
    return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
inline int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) {
    return __builtin_ffs(x);
}
inline int __ffsll(long long x) {
    return __builtin_ffsll(x);
}
inline int __mulhi(int x, int y) {
    return static_cast<int>((static_cast<long long>(x) * y) >> 32);
}
inline unsigned __umulhi(unsigned x, unsigned y) {
    return static_cast<unsigned>((static_cast<unsigned long long>(x) * y) >> 32);
}

// A call of one of these does not compile, and the message says why.
#define TMM_GPU_ONLY(name)                                                                                \
    template <class... Arguments>                                                                         \
    inline float name(Arguments...) {                                                                     \
        static_assert(sizeof...(Arguments) > 99, "the expression calls " #name ", which only a GPU has"); \
        return 0;                                                                                         \
    }
#define TMM_GPU_ONLY_ROUNDED(name) TMM_GPU_ONLY(name##_rd) TMM_GPU_ONLY(name##_ru) TMM_GPU_ONLY(name##_rz)
TMM_GPU_ONLY_ROUNDED(__fadd)
TMM_GPU_ONLY_ROUNDED(__fsub)
TMM_GPU_ONLY_ROUNDED(__fmul)
TMM_GPU_ONLY_ROUNDED(__fdiv)
TMM_GPU_ONLY_ROUNDED(__fmaf)
TMM_GPU_ONLY_ROUNDED(__frcp)
TMM_GPU_ONLY_ROUNDED(__fsqrt)
TMM_GPU_ONLY_ROUNDED(__dadd)
TMM_GPU_ONLY_ROUNDED(__dsub)
TMM_GPU_ONLY_ROUNDED(__dmul)
TMM_GPU_ONLY_ROUNDED(__ddiv)
TMM_GPU_ONLY_ROUNDED(__fma)
TMM_GPU_ONLY_ROUNDED(__drcp)
TMM_GPU_ONLY_ROUNDED(__dsqrt)
TMM_GPU_ONLY_ROUNDED(__int2float)
TMM_GPU_ONLY_ROUNDED(__uint2float)
TMM_GPU_ONLY_ROUNDED(__ll2float)
TMM_GPU_ONLY_ROUNDED(__ull2float)
TMM_GPU_ONLY_ROUNDED(__double2float)
TMM_GPU_ONLY(__brev)
TMM_GPU_ONLY(__brevll)
TMM_GPU_ONLY(__mul24)
TMM_GPU_ONLY(__umul24)
TMM_GPU_ONLY(__mul64hi)
TMM_GPU_ONLY(__umul64hi)
TMM_GPU_ONLY(__sad)
TMM_GPU_ONLY(__usad)
TMM_GPU_ONLY(__hadd)
TMM_GPU_ONLY(__rhadd)
TMM_GPU_ONLY(__uhadd)
TMM_GPU_ONLY(__urhadd)
TMM_GPU_ONLY(__byte_perm)
TMM_GPU_ONLY(__funnelshift_l)
TMM_GPU_ONLY(__funnelshift_r)
TMM_GPU_ONLY(__dp4a)
TMM_GPU_ONLY(__ldg)
TMM_GPU_ONLY(clock)
TMM_GPU_ONLY(clock64)
TMM_GPU_ONLY(__activemask)
#undef TMM_GPU_ONLY_ROUNDED
#undef TMM_GPU_ONLY
