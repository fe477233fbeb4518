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

template <Activation activation>
__device__ inline float activate(float x) {
    constexpr float log2_e = 1.4426950408889634f;
    if constexpr (activation == Activation::relu) {
        return x < 0.0f ? 0.0f : x;
    } else if constexpr (activation == Activation::gelu) {
        // x times the normal distribution's function (Hendrycks and Gimpel, 2016). erfc loses nothing where erf is close to -1.
        return 0.5f * x * erfcf(-0.70710678118654752f * x);
    } else if constexpr (activation == Activation::gelu_tanh) {
        // 0.5 x (1 + tanh(u)) with u = sqrt(2 / pi) (x + 0.044715 x^3), which is x / (1 + exp(-2 u)).
        return x * logistic(x * fmaf(-0.071354816272f * log2_e, x * x, -1.5957691216057308f * log2_e));
    } else if constexpr (activation == Activation::silu) {
        return x * logistic(-log2_e * x);
    } else if constexpr (activation == Activation::sigmoid) {
        return logistic(-log2_e * x);
    } else if constexpr (activation == Activation::tanh) {
        return tanhf(x);
    } else {
        return x;
    }
}

}  // namespace tmm
