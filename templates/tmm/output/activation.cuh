// Activation functions. NaN stays NaN; at infinities they are what their formulas give.
#pragma once

#include "tmm/vocabulary/problem.h"

namespace tmm {

template <Activation activation>
__device__ inline float activate(float x) {
    if constexpr (activation == Activation::relu) {
        return x < 0.0f ? 0.0f : x;
    } else if constexpr (activation == Activation::gelu) {
        // x times the normal distribution's function (Hendrycks and Gimpel, 2016). erfc loses nothing where erf is close to -1.
        return 0.5f * x * erfcf(-0.70710678118654752f * x);
    } else if constexpr (activation == Activation::gelu_tanh) {
        // 0.5 x (1 + tanh(u)) with u = sqrt(2 / pi) (x + 0.044715 x^3), which is x / (1 + exp(-2 u)).
        const float minus_2u = x * fmaf(-0.071354816272f, x * x, -1.5957691216057308f);
        return x / (1.0f + expf(minus_2u));
    } else if constexpr (activation == Activation::silu) {
        return x / (1.0f + expf(-x));
    } else if constexpr (activation == Activation::sigmoid) {
        return 1.0f / (1.0f + expf(-x));
    } else if constexpr (activation == Activation::tanh) {
        return tanhf(x);
    } else {
        return x;
    }
}

}  // namespace tmm
