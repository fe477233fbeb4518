// What an epilogue makes of an element, in double precision, written apart from the kernels' own (output/epilogue.cuh), which it judges.
// Host code includes <cmath> before this.
#pragma once

#include "tmm/number/arithmetic.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

inline double activated_in_double(Activation activation, double x) {
    switch (activation) {
        case Activation::none: break;
        case Activation::relu: return x < 0 ? 0 : x;
        case Activation::gelu: return 0.5 * x * erfc(-0.70710678118654752440 * x);
        case Activation::gelu_tanh: return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
        case Activation::silu: return x / (1 + exp(-x));
        case Activation::sigmoid: return 1 / (1 + exp(-x));
        case Activation::tanh: return tanh(x);
        // A gate has two arguments.
        case Activation::swiglu:
        case Activation::swiglu_rows: break;
    }
    return x;
}

inline double gated_in_double(double gate, double value) {
    return activated_in_double(Activation::silu, gate) * value;
}

// Whole numbers stay whole.
constexpr bool keeps_integers(Activation activation) {
    return activation == Activation::none || activation == Activation::relu;
}

// Units of the last place that an activation's own functions may be off by, here and in a kernel: those here are exact beside floats.
constexpr double own_units(double roundoff) {
    constexpr double of_floats = unit_roundoff(format_of(ElementType::f32));
    return roundoff < of_floats ? 12 : 4;
}

// How far activation(x + bias) + residual may lie from what it is exactly, where x is off by `error`: no activation's slope is above 1.13
// (gelu has the steepest), the sums round, and an exponential, a division, erfc or tanh is off by a few units in the last place, those of
// doubles here as well.
constexpr double epilogue_error(Activation activation, double error, double biased, double activated, double residual, double roundoff) {
    const auto size = [](double x) { return x < 0 ? -x : x; };
    const double slope = keeps_integers(activation) ? 1 : 1.13;
    const double own = keeps_integers(activation) ? 0 : own_units(roundoff) * roundoff * (size(biased) + size(activated));
    return slope * (error + roundoff * size(biased)) + own + roundoff * size(activated + residual);
}

// The same for a gate whose two arguments are off by so much, each rounded as it came to be.
constexpr double gate_error(double gate, double gate_error, double value, double value_error, double residual, double roundoff) {
    const auto size = [](double x) { return x < 0 ? -x : x; };
    // silu is no larger than its argument.
    const double of_silu = epilogue_error(Activation::silu, gate_error, gate, gate, 0, roundoff);
    const double of_value = value_error + roundoff * size(value);
    const double product = size(gate) * size(value);
    return size(value) * of_silu + size(gate) * of_value + of_silu * of_value + roundoff * (2 * product + size(residual));
}

}  // namespace tmm
