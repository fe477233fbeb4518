// Values of the 16-bit element types on the host: their bits, and what they stand for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tmm/vocabulary/problem.h"

namespace tmm::bench {

// The bits of an f16 or bf16 value, rounded to the nearest, ties to even; what is too large becomes infinite.
std::uint16_t bits_of(ElementType type, float value);
float value_of(ElementType type, std::uint16_t bits);

// The value as a matrix of the type holds it; f32 keeps it.
float rounded(ElementType type, float value);

// Elements of f32, f16 or bf16 as a matrix holds them, and back.
std::vector<float> to_floats(ElementType type, const std::vector<std::byte>& stored);
std::vector<std::byte> to_stored(ElementType type, const std::vector<float>& values);

// Half the distance from 1 to the next value above it, which is the largest relative change of a value by rounding to the type: 2^-24 for
// f32, 2^-11 for f16, 2^-8 for bf16.
double unit_roundoff(ElementType type);
// The largest change by rounding near 0: half the smallest value.
double smallest_rounding(ElementType type);

}  // namespace tmm::bench
