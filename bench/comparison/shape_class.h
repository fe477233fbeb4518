// The classes that shapes are grouped by, and which shapes are aligned.
#pragma once

#include <string_view>

#include "tmm/vocabulary/problem.h"

namespace tmm::bench {

enum class ShapeClass { large, mid, prefill, decode, small, small_or_skinny, deep, batched, odd, unaligned };
inline constexpr ShapeClass kShapeClasses[] = {
    ShapeClass::large,           ShapeClass::mid,  ShapeClass::prefill, ShapeClass::decode, ShapeClass::small,
    ShapeClass::small_or_skinny, ShapeClass::deep, ShapeClass::batched, ShapeClass::odd,    ShapeClass::unaligned};
std::string_view name_of(ShapeClass shape_class);

// Every row of A and B starts at a multiple of 16 bytes, what TMA and the widest copies need. C's rows do not count.
bool aligned(const GemmProblem& problem);

// f32 operands, the first that fits: batched; deep (k at least 16 times m and n); small_or_skinny (m or n at most 64, or under
// 1 GFLOP); odd (an extent that 16 does not divide); large (m n k of 4096 cubed or more); mid.
// 16-bit operands, the first that fits: batched; unaligned (not aligned()); deep (as above); decode (m or n at most 64: a few
// tokens by a weight); small (under 4 GFLOP); prefill (m and n differ by a factor of 2 or more: many tokens by a weight); large.
ShapeClass classify(const GemmProblem& problem);

}  // namespace tmm::bench
