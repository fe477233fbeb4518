// The types that a kernel computes with, which follow from its signature: what its elements are, what they are summed in, and what alpha,
// beta and an epilogue are computed in. Elements become numbers by to_number, and numbers elements by to_element.
#pragma once

#include "tmm/number/arithmetic.h"
#include "tmm/number/element.cuh"

namespace tmm {

template <ElementType a, ElementType b, ElementType c, ElementType bias, ElementType sum, ElementType scalar>
struct Number {
    using A = Element<a>;
    using B = Element<b>;
    // The residual's elements are C's.
    using C = Element<c>;
    using Bias = Element<bias>;
    using Sum = Element<sum>;
    using Scalar = Element<scalar>;
};

template <class Kernel>
using NumberOf = Number<Kernel::signature.type_a, Kernel::signature.type_b, Kernel::signature.type_c, Kernel::signature.type_bias,
                        arithmetic_of(Kernel::signature).accumulator, arithmetic_of(Kernel::signature).scalar>;
template <class Kernel>
using ElementOfA = typename NumberOf<Kernel>::A;
template <class Kernel>
using ElementOfB = typename NumberOf<Kernel>::B;
template <class Kernel>
using ElementOfC = typename NumberOf<Kernel>::C;
template <class Kernel>
using ElementOfBias = typename NumberOf<Kernel>::Bias;
template <class Kernel>
using SumOf = typename NumberOf<Kernel>::Sum;
template <class Kernel>
using ScalarOf = typename NumberOf<Kernel>::Scalar;

// Sums of whole numbers are held in this type (element.cuh).
template <class T>
constexpr bool is_wrapping = false;
template <>
constexpr bool is_wrapping<unsigned> = true;

// An element, or a number of another type, as a number that is computed with.
template <class To, class From>
__device__ inline To to_number(From value) {
    if constexpr (is_16_bit_element<From>)
        return static_cast<To>(to_float(value));
    else if constexpr (is_wrapping<To> != is_wrapping<From>)
        // A negative number is no unsigned one, but its bits are.
        return static_cast<To>(static_cast<int>(value));
    else
        return static_cast<To>(value);
}

// A number as an element, rounded to the nearest one, ties to even.
template <class To, class From>
__device__ inline To to_element(From value) {
    if constexpr (is_16_bit_element<To>)
        return from_float<To>(static_cast<float>(value));
    else
        return to_number<To>(value);
}

// a * b + sum, rounded once.
__device__ inline float multiply_add(float a, float b, float sum) {
    return fmaf(a, b, sum);
}
__device__ inline double multiply_add(double a, double b, double sum) {
    return fma(a, b, sum);
}
// The same modulo 2^32.
__device__ inline unsigned multiply_add(unsigned a, unsigned b, unsigned sum) {
    return a * b + sum;
}

}  // namespace tmm
