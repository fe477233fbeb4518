// The matrices that accuracy is measured with. An element's value depends on its place in op(A) or op(B) alone, so that every layout of
// a problem multiplies the same numbers; all 24 bits of a significand are in use.
#pragma once

#include <string_view>
#include <vector>

#include "tmm/vocabulary/problem.h"

namespace tmm::bench {

enum class InputFamily { uniform, normal, wide_20, wide_60, positive, cancelling, subnormal, vanishing, infinities, nans };
inline constexpr InputFamily kInputFamilies[] = {
    // The values are uniform from -1 to 1.
    InputFamily::uniform,
    // The values are standard normal.
    InputFamily::normal,
    // Significand and sign are random, and the exponent is uniform from -20 to 20, or from -60 to 60.
    InputFamily::wide_20,
    InputFamily::wide_60,
    // The values are uniform from 0 to 1.
    InputFamily::positive,
    // The values are uniform; along k A's second half repeats its first, B's negates it but for a part in 1024 at most.
    InputFamily::cancelling,
    // A is below the smallest normal number, B is uniform times 2^100.
    InputFamily::subnormal,
    // Both are near 2^-120: no product is representable.
    InputFamily::vanishing,
    // The values are uniform, with infinities in some rows of A and columns of B, and columns of zeros for them to meet; or the same with
    // NaNs.
    InputFamily::infinities,
    InputFamily::nans,
};

// "uniform", "normal", "wide20", "wide60", "positive", "cancelling", "subnormal", "vanishing", "inf", "nan".
std::string_view name_of(InputFamily family);

// Element (row, k) of op(A), element (k, column) of op(B). draw: each number names other values of the same family.
float value_a(InputFamily family, const GemmProblem& problem, i64 batch, i64 row, i64 k, int draw = 0);
float value_b(InputFamily family, const GemmProblem& problem, i64 batch, i64 k, i64 column, int draw = 0);

// Writes the elements where the problem stores them, and nothing between them.
void fill_a(InputFamily family, const GemmProblem& problem, std::vector<float>& stored, int draw = 0);
void fill_b(InputFamily family, const GemmProblem& problem, std::vector<float>& stored, int draw = 0);

}  // namespace tmm::bench
