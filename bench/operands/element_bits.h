// Values of the element types on the host: their bits, and what they stand for.
#pragma once

#include <cstddef>
#include <vector>

#include "tmm/vocabulary/problem.h"

namespace tmm::bench {

// Elements of a type as a matrix holds them, and back. They are rounded to the nearest, ties to even; what is too large becomes infinite.
std::vector<double> to_values(ElementType type, const std::vector<std::byte>& stored);
std::vector<std::byte> to_stored(ElementType type, const std::vector<double>& values);

// Half the distance from 1 to the next value above it, which is the largest relative change of a value by rounding to the type: 2^-53 for
// f64, 2^-24 for f32, 2^-11 for f16, 2^-8 for bf16.
double unit_roundoff(ElementType type);
// The largest change by rounding near 0: half the smallest value.
double smallest_rounding(ElementType type);

}  // namespace tmm::bench
