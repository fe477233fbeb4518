// How far a product is from the exact one: in norm, in its worst element, and on average to one side; and where it is not finite.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/exact_product.h"

namespace tmm::bench {

// Over the elements that are finite in a loop of FP32 FMAs, with error = C - exact.
struct ErrorMeasure {
    // ||error|| / ||exact|| in the Frobenius norm.
    double norm = 0;
    // The largest |error| / (|A| |B|), in units of 2^-24.
    double worst = 0;
    // sum(sign(exact) error) / sum(|exact|): negative where results are too small on average. Over finite errors.
    double bias = 0;
    // Index of the element with the worst error; nothing where there is none.
    std::optional<std::size_t> worst_at;
};
// norm and worst are infinite where c is not finite and the loop is. All four have an element of C each, in one order.
ErrorMeasure measure_errors(const std::vector<float>& c, const std::vector<float>& loop, const ExactProduct& exact);

// Elements that are finite, positively or negatively infinite or NaN in one product and not in the other.
struct Misplaced {
    std::size_t count = 0;
    std::size_t first = 0;
};
Misplaced misplaced(const std::vector<float>& c, const std::vector<float>& loop);

// What is promised of tmm's results, relative to the loop's.
inline constexpr double kMostNormRatio = 1;
inline constexpr double kMostWorstRatio = 1.25;

// ours / theirs; 1 where both are 0.
double error_ratio(double ours, double theirs);

}  // namespace tmm::bench
