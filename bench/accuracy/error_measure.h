// Measures how far products are from the exact ones: on average, in their worst elements, and to one side; and where they are not finite.
// The errors of several draws of one problem's inputs are pooled, so that small problems have enough elements to judge (docs/accuracy.md).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/accuracy/exact_product.h"

namespace tmm::bench {

// An element's error is (C - exact) / (|A| |B|), in units of 2^-24. Only elements that are finite in a loop of FP32 FMAs count.
struct ErrorMeasure {
    // The root of the errors' mean square.
    double rms = 0;
    // The largest magnitude of an error among 256 elements, on average.
    double worst = 0;
    // The largest of all.
    double largest = 0;
    // sum(sign(exact) (C - exact)) / sum(|exact|) over finite errors; it is negative where results are too small on average.
    double bias = 0;
    // ||C - exact|| / ||exact|| in the Frobenius norm.
    double norm = 0;
};

// The ratio of two estimates, and the standard deviation of that ratio over samples of as many elements.
struct Ratio {
    double value = 1;
    double deviation = 0;
};

// The largest errors that tmm promises, relative to the loop's (docs/accuracy.md says why so much).
inline constexpr double kMostRmsRatio = 1.125;
inline constexpr double kMostWorstRatio = 1.25;
inline constexpr double kMostLargestRatio = 2;
// A ratio of two samples breaks the promise where it is so many of its deviations above what is promised. Chance alone does that once in
// 3 million times.
inline constexpr double kDeviations = 5;

bool is_within(const Ratio& ratio, double most);

// ours / theirs; 1 where both are 0.
double error_ratio(double ours, double theirs);

// A mean over groups of elements, of two products of the same inputs.
class PairedMeans {
public:
    void add(double ours, double theirs);
    double count() const { return count_; }
    double ours() const { return count_ > 0 ? ours_ / count_ : 0; }
    // The ratio of the means. The deviation is that of a ratio of means to first order, which is what a jackknife over the groups
    // estimates.
    Ratio ratio() const;

private:
    double count_ = 0;
    double ours_ = 0;
    double theirs_ = 0;
    double ours_squared_ = 0;
    double theirs_squared_ = 0;
    double products_ = 0;
};

// The errors of one product and those of the loop, over all draws.
class PooledErrors {
public:
    // So many elements form one group: their mean square and their largest error are one value each of those that the deviations are
    // computed from.
    static constexpr int kGroup = 256;

    // Adds the errors of another draw. All three arguments hold the elements of C in the same order.
    void add(const std::vector<float>& c, const std::vector<float>& loop, const ExactProduct& exact);

    // rms, worst, largest and norm are infinite where c is not finite and the loop is.
    ErrorMeasure measure() const;
    Ratio rms_ratio() const;
    Ratio worst_ratio() const;
    double largest_ratio() const { return error_ratio(ours_.largest, their_largest_); }
    // Whether the element with the largest error was in the draw that was added last, and its index there.
    bool has_new_largest() const { return has_new_largest_; }
    std::size_t largest_at() const { return largest_at_; }

private:
    struct Group {
        int elements = 0;
        double our_squares = 0;
        double their_squares = 0;
        double our_largest = 0;
        double their_largest = 0;
    };
    struct Sums {
        double elements = 0;
        double squares = 0;
        double largest = 0;
        double error_squares = 0;
        double exact_squares = 0;
        double signed_errors = 0;
        double magnitudes = 0;
    };
    // The means over whole groups; where there is none, over the group that was begun.
    PairedMeans groups(double Group::*ours, double Group::*theirs, const PairedMeans& whole) const;

    PairedMeans squares_;
    PairedMeans worst_;
    Group begun_;
    Sums ours_;
    double their_largest_ = 0;
    bool finite_ = true;
    bool has_new_largest_ = false;
    std::size_t largest_at_ = 0;
};

// Elements that are finite, positively or negatively infinite or NaN in one product and not in the other.
struct Misplaced {
    std::size_t count = 0;
    std::size_t first = 0;
};
Misplaced misplaced(const std::vector<float>& c, const std::vector<float>& loop);

}  // namespace tmm::bench
