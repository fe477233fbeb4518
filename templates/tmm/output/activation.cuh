// Activation functions. NaN stays NaN; at infinities they are what their formulas give. Exponentials and reciprocals are the approximate
// ones, each within a few units in the last place: their accurate forms took a third of the time of a multiplication of 512 rows.
#pragma once

#include "tmm/ptx.cuh"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// 1 / (1 + exp(-x)), where exponent is -x / ln(2).
__device__ inline float logistic(float exponent) {
    return ptx::rcp_approx(1.0f + ptx::ex2_approx(exponent));
}

// The part of the normal distribution beyond x >= 0, erfc(x / sqrt(2)) / 2, as exp(-x^2 / 2) times t exp2(q(t)) with t = 1 / (1 + 0.275 x).
// q was fitted at Chebyshev's nodes for 0 <= x <= 14.5: the polynomial is right to a relative 6e-8, the whole to 4 units in the last place
// of one half, and to 1e-6 of itself up to x = 5. erfcf takes three times as many instructions.
__device__ inline float beyond(float x) {
    const float t = ptx::rcp_approx(fmaf(0.275f, x, 1.0f));
    float q = -0.3356224000453949f;
    q = fmaf(q, t, 1.5757510662078857f);
    q = fmaf(q, t, -2.7508368492126465f);
    q = fmaf(q, t, 2.164158582687378f);
    q = fmaf(q, t, -1.0804625749588013f);
    q = fmaf(q, t, 0.6229555606842041f);
    q = fmaf(q, t, 0.5424031615257263f);
    q = fmaf(q, t, 1.4502460956573486f);
    q = fmaf(q, t, -3.1885926723480225f);
    constexpr float half_of_log2_e = 0.7213475204444817f;
    return t * ptx::ex2_approx(fmaf(-half_of_log2_e * x, x, q));
}

template <Activation activation>
__device__ inline float activate_float(float x) {
    constexpr float log2_e = 1.4426950408889634f;
    if constexpr (activation == Activation::gelu) {
        // x times the normal distribution's function (Hendrycks and Gimpel, 2016).
        const float tail = beyond(x < 0.0f ? -x : x);
        return x * (x < 0.0f ? tail : 1.0f - tail);
    } else if constexpr (activation == Activation::gelu_tanh) {
        // 0.5 x (1 + tanh(u)) with u = sqrt(2 / pi) (x + 0.044715 x^3), which is x / (1 + exp(-2 u)).
        return x * logistic(x * fmaf(-0.071354816272f * log2_e, x * x, -1.5957691216057308f * log2_e));
    } else if constexpr (activation == Activation::silu) {
        return x * logistic(-log2_e * x);
    } else if constexpr (activation == Activation::sigmoid) {
        return logistic(-log2_e * x);
    } else {
        static_assert(activation == Activation::tanh);
        return tanhf(x);
    }
}

// In doubles the accurate functions serve: nobody multiplies doubles for speed alone.
template <Activation activation>
__device__ inline double activate_double(double x) {
    if constexpr (activation == Activation::gelu) {
        return 0.5 * x * erfc(-0.70710678118654752440 * x);
    } else if constexpr (activation == Activation::gelu_tanh) {
        // x / (1 + exp(-2 u)) with u = sqrt(2 / pi) (x + 0.044715 x^3).
        return x / (1 + exp(-1.5957691216057307117 * x * fma(0.044715 * x, x, 1.0)));
    } else if constexpr (activation == Activation::silu) {
        return x / (1 + exp(-x));
    } else if constexpr (activation == Activation::sigmoid) {
        return 1 / (1 + exp(-x));
    } else {
        static_assert(activation == Activation::tanh);
        return tanh(x);
    }
}

template <Activation activation, class Scalar>
__device__ inline Scalar activate(Scalar x) {
    if constexpr (activation == Activation::none) {
        return x;
    } else if constexpr (activation == Activation::relu) {
        return x < 0 ? 0 : x;
    } else if constexpr (sizeof(Scalar) == sizeof(double)) {
        return activate_double<activation>(x);
    } else {
        return activate_float<activation>(x);
    }
}

}  // namespace tmm
