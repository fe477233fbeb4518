// The elements of matrices as device code holds them. The 16-bit types are bits that PTX converts, so that no toolkit header is
// needed; arithmetic on them is done in float.
#pragma once

#include "tmm/ptx.cuh"
#include "tmm/vocabulary/problem.h"

namespace tmm {

struct Half {
    unsigned short bits;
};
struct Bfloat16 {
    unsigned short bits;
};

template <ElementType type>
struct ElementOf;
template <>
struct ElementOf<ElementType::f32> {
    using Type = float;
};
template <>
struct ElementOf<ElementType::f16> {
    using Type = Half;
};
template <>
struct ElementOf<ElementType::bf16> {
    using Type = Bfloat16;
};
template <>
struct ElementOf<ElementType::f64> {
    using Type = double;
};
template <>
struct ElementOf<ElementType::s8> {
    using Type = signed char;
};
// Sums of whole numbers wrap around, which unsigned arithmetic does by definition: the bits are those of two's complement.
template <>
struct ElementOf<ElementType::s32> {
    using Type = unsigned;
};
template <ElementType type>
using Element = typename ElementOf<type>::Type;

// Does the element's type exist in memory alone?
template <class T>
constexpr bool is_16_bit_element = false;
template <>
constexpr bool is_16_bit_element<Half> = true;
template <>
constexpr bool is_16_bit_element<Bfloat16> = true;

__device__ inline float to_float(float value) {
    return value;
}
__device__ inline float to_float(Half value) {
    return ptx::cvt_f32_f16(value.bits);
}
// A bfloat16 is the upper half of a float.
__device__ inline float to_float(Bfloat16 value) {
    return __int_as_float(static_cast<int>(static_cast<unsigned>(value.bits) << 16));
}

// The lower and the upper half of a word that holds two 16-bit elements, an instruction each.
template <class T>
__device__ inline float lower_to_float(unsigned pair) {
    return to_float(T{static_cast<unsigned short>(pair & 0xffffu)});
}
template <class T>
__device__ inline float upper_to_float(unsigned pair) {
    return to_float(T{static_cast<unsigned short>(pair >> 16)});
}
template <>
__device__ inline float upper_to_float<Bfloat16>(unsigned pair) {
    return __int_as_float(static_cast<int>(pair & 0xffff0000u));
}

// Rounds to the nearest, ties to even.
template <class T>
__device__ inline T from_float(float value);
template <>
__device__ inline float from_float<float>(float value) {
    return value;
}
template <>
__device__ inline Half from_float<Half>(float value) {
    return Half{ptx::cvt_rn_f16_f32(value)};
}
template <>
__device__ inline Bfloat16 from_float<Bfloat16>(float value) {
    return Bfloat16{ptx::cvt_rn_bf16_f32(value)};
}

}  // namespace tmm
