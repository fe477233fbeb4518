// CUDA's math functions for the CPU, each for floats and doubles, as NVRTC has them built in. Those of the C library are declared here and
// not included, which spares every kernel the standard headers. Others are computed in double precision: a GPU's differ by a few units in
// the last place.
#pragma once

#include "host/portable_math.h"

namespace tmm::host {

template <class T>
constexpr bool is_double = false;
template <>
constexpr bool is_double<double> = true;

}  // namespace tmm::host

// Of the C library, by its own names; for floats also by the doubles' name.
#define TMM_HOST_MATH_1(result_f, result, name) \
    extern "C" result_f name##f(float);         \
    extern "C" result name(double);             \
    inline result_f name(float x) {             \
        return name##f(x);                      \
    }
// Where C libraries differ in the last bits these are portable, in doubles for floats, too.
#define TMM_HOST_PORTABLE_1(name)                          \
    inline double name(double x) {                         \
        return tmm::portable::name(x);                     \
    }                                                      \
    inline float name##f(float x) {                        \
        return static_cast<float>(tmm::portable::name(x)); \
    }                                                      \
    inline float name(float x) {                           \
        return name##f(x);                                 \
    }
// Rounded from the C library's doubles: libraries then differ for one argument in a hundred million.
#define TMM_HOST_ROUNDED_1(name)                        \
    extern "C" double name(double);                     \
    inline float name##f(float x) {                     \
        return static_cast<float>(__builtin_##name(x)); \
    }                                                   \
    inline float name(float x) {                        \
        return name##f(x);                              \
    }
#define TMM_HOST_MATH_2(name)               \
    extern "C" float name##f(float, float); \
    extern "C" double name(double, double); \
    TMM_HOST_OVERLOADS_2(name)
// A float and a double are ambiguous to NVRTC, and only a warning to g++.
#define TMM_HOST_OVERLOADS_2(name)                                    \
    inline float name(float x, float y) {                             \
        return name##f(x, y);                                         \
    }                                                                 \
    template <class D>                                                \
    requires(tmm::host::is_double<D>) double name(float, D) = delete; \
    template <class D>                                                \
    requires(tmm::host::is_double<D>) double name(D, float) = delete;

TMM_HOST_MATH_1(float, double, acos)
TMM_HOST_MATH_1(float, double, acosh)
TMM_HOST_MATH_1(float, double, asin)
TMM_HOST_MATH_1(float, double, asinh)
TMM_HOST_MATH_1(float, double, atan)
TMM_HOST_MATH_1(float, double, atanh)
TMM_HOST_MATH_1(float, double, cbrt)
TMM_HOST_MATH_1(float, double, ceil)
TMM_HOST_MATH_1(float, double, cosh)
TMM_HOST_MATH_1(float, double, exp10)
TMM_HOST_MATH_1(float, double, fabs)
TMM_HOST_MATH_1(float, double, floor)
TMM_HOST_MATH_1(float, double, j0)
TMM_HOST_MATH_1(float, double, j1)
TMM_HOST_MATH_1(float, double, lgamma)
TMM_HOST_MATH_1(float, double, log10)
TMM_HOST_MATH_1(float, double, logb)
TMM_HOST_MATH_1(float, double, nearbyint)
TMM_HOST_MATH_1(float, double, rint)
TMM_HOST_MATH_1(float, double, round)
TMM_HOST_MATH_1(float, double, sinh)
TMM_HOST_MATH_1(float, double, sqrt)
TMM_HOST_MATH_1(float, double, tan)
TMM_HOST_MATH_1(float, double, tgamma)
TMM_HOST_MATH_1(float, double, trunc)
TMM_HOST_MATH_1(int, int, ilogb)
TMM_HOST_MATH_1(long, long, lrint)
TMM_HOST_MATH_1(long, long, lround)
TMM_HOST_MATH_1(long long, long long, llrint)
TMM_HOST_MATH_1(long long, long long, llround)

TMM_HOST_PORTABLE_1(erf)
TMM_HOST_PORTABLE_1(erfc)
TMM_HOST_PORTABLE_1(exp)
TMM_HOST_PORTABLE_1(exp2)
TMM_HOST_PORTABLE_1(expm1)
TMM_HOST_PORTABLE_1(log)
TMM_HOST_PORTABLE_1(log1p)
TMM_HOST_PORTABLE_1(log2)
TMM_HOST_PORTABLE_1(tanh)
TMM_HOST_ROUNDED_1(cos)
TMM_HOST_ROUNDED_1(sin)

TMM_HOST_MATH_2(atan2)
TMM_HOST_MATH_2(fdim)
TMM_HOST_MATH_2(fmod)
TMM_HOST_MATH_2(hypot)
TMM_HOST_MATH_2(nextafter)
TMM_HOST_MATH_2(remainder)

extern "C" double pow(double, double);
inline float powf(float x, float y) {
    return static_cast<float>(__builtin_pow(x, y));
}
TMM_HOST_OVERLOADS_2(pow)
// A number is larger and smaller than NaN, and -0 is smaller than 0: PTX's choice, where the C library's of two zeros is the CPU's.
inline double fmax(double x, double y) {
    if (x == y) return __builtin_signbit(x) ? y : x;
    return x > y || y != y ? x : y;
}
inline double fmin(double x, double y) {
    if (x == y) return __builtin_signbit(x) ? x : y;
    return x < y || y != y ? x : y;
}
inline float fmaxf(float x, float y) {
    return static_cast<float>(fmax(double{x}, double{y}));
}
inline float fminf(float x, float y) {
    return static_cast<float>(fmin(double{x}, double{y}));
}
TMM_HOST_OVERLOADS_2(fmax)
TMM_HOST_OVERLOADS_2(fmin)

#undef TMM_HOST_MATH_1
#undef TMM_HOST_PORTABLE_1
#undef TMM_HOST_ROUNDED_1
#undef TMM_HOST_MATH_2
#undef TMM_HOST_OVERLOADS_2

extern "C" {
float copysignf(float, float);
double copysign(double, double);
float fmaf(float, float, float);
double fma(double, double, double);
float frexpf(float, int*);
double frexp(double, int*);
float ldexpf(float, int);
double ldexp(double, int);
float modff(float, float*);
double modf(double, double*);
float remquof(float, float, int*);
double remquo(double, double, int*);
float scalbnf(float, int);
double scalbn(double, int);
float scalblnf(float, long);
double scalbln(double, long);
float y0f(float);
float y1f(float);
float jnf(int, float);
double jn(int, double);
float ynf(int, float);
double yn(int, double);
}
inline float copysign(float x, float y) {
    return copysignf(x, y);
}
inline float fma(float x, float y, float z) {
    return fmaf(x, y, z);
}
inline float frexp(float x, int* exponent) {
    return frexpf(x, exponent);
}
inline float ldexp(float x, int exponent) {
    return ldexpf(x, exponent);
}
inline float modf(float x, float* whole) {
    return modff(x, whole);
}
inline float remquo(float x, float y, int* quotient) {
    return remquof(x, y, quotient);
}
inline float scalbn(float x, int exponent) {
    return scalbnf(x, exponent);
}
inline float scalbln(float x, long exponent) {
    return scalblnf(x, exponent);
}
inline float jn(int n, float x) {
    return jnf(n, x);
}
inline float yn(int n, float x) {
    return ynf(n, x);
}

inline bool isnan(float x) {
    return __builtin_isnan(x);
}
inline bool isnan(double x) {
    return __builtin_isnan(x);
}
inline bool isinf(float x) {
    return __builtin_isinf(x) != 0;
}
inline bool isinf(double x) {
    return __builtin_isinf(x) != 0;
}
inline bool isfinite(float x) {
    return __builtin_isfinite(x);
}
inline bool isfinite(double x) {
    return __builtin_isfinite(x);
}
inline bool signbit(float x) {
    return __builtin_signbit(x) != 0;
}
inline bool signbit(double x) {
    return __builtin_signbit(x) != 0;
}
inline float nanf(const char*) {
    return __builtin_nanf("");
}
inline double nan(const char*) {
    return __builtin_nan("");
}

inline int abs(int x) {
    return x < 0 ? -x : x;
}
inline long abs(long x) {
    return x < 0 ? -x : x;
}
inline long long abs(long long x) {
    return x < 0 ? -x : x;
}
inline float abs(float x) {
    return fabsf(x);
}
inline double abs(double x) {
    return fabs(x);
}
inline long labs(long x) {
    return abs(x);
}
inline long long llabs(long long x) {
    return abs(x);
}

#define TMM_HOST_EXTREMES(type)       \
    inline type max(type x, type y) { \
        return x > y ? x : y;         \
    }                                 \
    inline type min(type x, type y) { \
        return x < y ? x : y;         \
    }
TMM_HOST_EXTREMES(int)
TMM_HOST_EXTREMES(unsigned)
TMM_HOST_EXTREMES(long)
TMM_HOST_EXTREMES(unsigned long)
TMM_HOST_EXTREMES(long long)
TMM_HOST_EXTREMES(unsigned long long)
#undef TMM_HOST_EXTREMES
// Of numbers and NaN it is the number.
inline float max(float x, float y) {
    return fmaxf(x, y);
}
inline float min(float x, float y) {
    return fminf(x, y);
}
inline double max(double x, double y) {
    return fmax(x, y);
}
inline double min(double x, double y) {
    return fmin(x, y);
}
inline double max(float x, double y) {
    return fmax(static_cast<double>(x), y);
}
inline double max(double x, float y) {
    return fmax(x, static_cast<double>(y));
}
inline double min(float x, double y) {
    return fmin(static_cast<double>(x), y);
}
inline double min(double x, float y) {
    return fmin(x, static_cast<double>(y));
}
inline unsigned umax(unsigned x, unsigned y) {
    return max(x, y);
}
inline unsigned umin(unsigned x, unsigned y) {
    return min(x, y);
}
inline long long llmax(long long x, long long y) {
    return max(x, y);
}
inline long long llmin(long long x, long long y) {
    return min(x, y);
}
inline unsigned long long ullmax(unsigned long long x, unsigned long long y) {
    return max(x, y);
}
inline unsigned long long ullmin(unsigned long long x, unsigned long long y) {
    return min(x, y);
}

namespace tmm::host {

constexpr double kPi = 3.14159265358979323846;
constexpr double kRootOfPi = 1.77245385090551602730;

inline double sinpi(double x) {
    double turn = ::remainder(x, 2.0);
    if (::fabs(turn) > 0.5) turn = ::copysign(1.0, turn) - turn;
    return ::sin(kPi * turn);
}
inline double cospi(double x) {
    return sinpi(0.5 - ::fabs(::remainder(x, 2.0)));
}

// exp(x^2) erfc(x), whose factors leave the range of doubles for large x.
inline double erfcx(double x) {
    if (x < 25) return ::exp(x * x) * ::erfc(x);
    const double square = 1 / (2 * x * x);
    return (1 - square * (1 - 3 * square * (1 - 5 * square))) / (x * kRootOfPi);
}

// Halley's steps towards erfc(y) = x, from Abramowitz and Stegun's approximation 26.2.22.
inline double erfcinv(double x) {
    if (!(x >= 0 && x <= 2)) return __builtin_nan("");
    if (x > 1) return -erfcinv(2 - x);
    if (x == 0) return __builtin_inf();
    const double t = ::sqrt(-2 * ::log(x / 2));
    double y = (t - (2.30753 + 0.27061 * t) / (1 + (0.99229 + 0.04481 * t) * t)) * 0.70710678118654752440;
    for (int step = 0; step < 3; ++step) {
        const double error = ::erfc(y) - x;
        y += error / (2 / kRootOfPi * ::exp(-y * y) - y * error);
    }
    return y;
}
// Near 0, where 1 - x loses digits, the same towards erf(y) = x.
inline double erfinv(double x) {
    if (!(::fabs(x) < 0.5)) return x < 0 ? -erfcinv(1 + x) : erfcinv(1 - x);
    double y = x * kRootOfPi / 2;
    for (int step = 0; step < 4; ++step) {
        const double error = x - ::erf(y);
        y += error / (2 / kRootOfPi * ::exp(-y * y) - y * error);
    }
    return y;
}
inline double normcdf(double x) {
    return ::erfc(-x * 0.70710678118654752440) / 2;
}
inline double normcdfinv(double x) {
    return -1.41421356237309504880 * erfcinv(2 * x);
}

// The modified Bessel function of the first kind, by its series, all of whose terms have one sign.
inline double bessel_i(int order, double x) {
    double term = order == 0 ? 1 : x / 2, sum = term;
    for (int k = 1; ::fabs(term) > 1e-17 * ::fabs(sum) && __builtin_isfinite(sum); ++k) {
        term *= x / 2 / k * (x / 2 / (k + order));
        sum += term;
    }
    return sum;
}
inline double cyl_bessel_i0(double x) {
    return bessel_i(0, x);
}
inline double cyl_bessel_i1(double x) {
    return bessel_i(1, x);
}
inline double rcbrt(double x) {
    return 1 / ::cbrt(x);
}

}  // namespace tmm::host

#define TMM_HOST_MATH_1(name)                                               \
    inline double name(double x) {                                          \
        return tmm::host::name(x);                                          \
    }                                                                       \
    inline float name##f(float x) {                                         \
        return static_cast<float>(tmm::host::name(static_cast<double>(x))); \
    }                                                                       \
    inline float name(float x) {                                            \
        return name##f(x);                                                  \
    }
TMM_HOST_MATH_1(sinpi)
TMM_HOST_MATH_1(cospi)
TMM_HOST_MATH_1(erfcx)
TMM_HOST_MATH_1(erfcinv)
TMM_HOST_MATH_1(erfinv)
TMM_HOST_MATH_1(normcdf)
TMM_HOST_MATH_1(normcdfinv)
TMM_HOST_MATH_1(cyl_bessel_i0)
TMM_HOST_MATH_1(cyl_bessel_i1)
TMM_HOST_MATH_1(rcbrt)
#undef TMM_HOST_MATH_1

inline float rsqrtf(float x) {
    return 1.0f / sqrtf(x);
}
inline float rsqrt(float x) {
    return rsqrtf(x);
}
inline double rsqrt(double x) {
    return 1.0 / sqrt(x);
}
inline float rhypotf(float x, float y) {
    return 1.0f / hypotf(x, y);
}
inline float rhypot(float x, float y) {
    return rhypotf(x, y);
}
inline double rhypot(double x, double y) {
    return 1.0 / hypot(x, y);
}
inline double norm3d(double x, double y, double z) {
    return hypot(hypot(x, y), z);
}
inline double norm4d(double x, double y, double z, double w) {
    return hypot(hypot(x, y), hypot(z, w));
}
inline double norm(int count, const double* x) {
    double length = 0;
    for (int i = 0; i < count; ++i) length = hypot(length, x[i]);
    return length;
}
inline float norm3df(float x, float y, float z) {
    return static_cast<float>(norm3d(x, y, z));
}
inline float norm4df(float x, float y, float z, float w) {
    return static_cast<float>(norm4d(x, y, z, w));
}
inline float normf(int count, const float* x) {
    double length = 0;
    for (int i = 0; i < count; ++i) length = hypot(length, static_cast<double>(x[i]));
    return static_cast<float>(length);
}
inline double rnorm3d(double x, double y, double z) {
    return 1 / norm3d(x, y, z);
}
inline double rnorm4d(double x, double y, double z, double w) {
    return 1 / norm4d(x, y, z, w);
}
inline double rnorm(int count, const double* x) {
    return 1 / norm(count, x);
}
inline float rnorm3df(float x, float y, float z) {
    return static_cast<float>(rnorm3d(x, y, z));
}
inline float rnorm4df(float x, float y, float z, float w) {
    return static_cast<float>(rnorm4d(x, y, z, w));
}
inline float rnormf(int count, const float* x) {
    return 1.0f / normf(count, x);
}
inline float fdividef(float x, float y) {
    return x / y;
}
inline void sincosf(float x, float* sine, float* cosine) {
    *sine = sinf(x);
    *cosine = cosf(x);
}
inline void sincos(double x, double* sine, double* cosine) {
    *sine = sin(x);
    *cosine = cos(x);
}
inline void sincospif(float x, float* sine, float* cosine) {
    *sine = sinpif(x);
    *cosine = cospif(x);
}
inline void sincospi(double x, double* sine, double* cosine) {
    *sine = sinpi(x);
    *cosine = cospi(x);
}
