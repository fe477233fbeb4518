// Sums over elements and groups of them; see error_measure.h.
#include "bench/accuracy/error_measure.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tmm::bench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool in_one_place(float x, float y) {
    if (std::isfinite(x)) return std::isfinite(y);
    return std::isnan(x) ? std::isnan(y) : x == y;
}

// The error in units of 2^-24 of the products' magnitudes.
double relative(double error, double magnitude) {
    if (!std::isfinite(error)) return kInfinity;
    return error == 0 ? 0 : std::fabs(error) / magnitude * 0x1p24;
}

}  // namespace

double error_ratio(double ours, double theirs) {
    if (theirs > 0) return ours / theirs;
    return ours > 0 ? kInfinity : 1;
}

bool is_within(const Ratio& ratio, double most) {
    return ratio.value <= most + kDeviations * ratio.deviation;
}

void PairedMeans::add(double ours, double theirs) {
    count_ += 1;
    ours_ += ours;
    theirs_ += theirs;
    ours_squared_ += ours * ours;
    theirs_squared_ += theirs * theirs;
    products_ += ours * theirs;
}

Ratio PairedMeans::ratio() const {
    Ratio ratio{.value = error_ratio(ours_, theirs_), .deviation = 0};
    if (!std::isfinite(ratio.value) || theirs_ == 0 || count_ < 2) return ratio;
    const double r = ratio.value;
    const double residues = ours_squared_ - 2 * r * products_ + r * r * theirs_squared_;
    ratio.deviation = std::sqrt(std::max(residues, 0.0) * count_ / (count_ - 1)) / theirs_;
    return ratio;
}

void PooledErrors::add(const std::vector<float>& c, const std::vector<float>& loop, const ExactProduct& exact) {
    has_new_largest_ = false;
    for (std::size_t i = 0; i < c.size(); ++i) {
        if (!std::isfinite(loop[i])) continue;
        const double value = exact.value[i];
        const double error = c[i] - value;
        const double ours = relative(error, exact.magnitude[i]);
        const double theirs = relative(loop[i] - value, exact.magnitude[i]);
        ours_.exact_squares += value * value;
        ours_.magnitudes += std::fabs(value);
        ours_.elements += 1;
        ours_.squares += ours * ours;
        finite_ = finite_ && std::isfinite(ours);
        if (std::isfinite(error)) {
            ours_.error_squares += error * error;
            ours_.signed_errors += value < 0 ? -error : value > 0 ? error : 0;
        }
        if (ours > ours_.largest) {
            ours_.largest = ours;
            largest_at_ = i;
            has_new_largest_ = true;
        }
        their_largest_ = std::max(their_largest_, theirs);

        begun_.our_squares += ours * ours;
        begun_.their_squares += theirs * theirs;
        begun_.our_largest = std::max(begun_.our_largest, ours);
        begun_.their_largest = std::max(begun_.their_largest, theirs);
        if (++begun_.elements < kGroup) continue;
        squares_.add(begun_.our_squares, begun_.their_squares);
        worst_.add(begun_.our_largest, begun_.their_largest);
        begun_ = {};
    }
}

PairedMeans PooledErrors::groups(double Group::*ours, double Group::*theirs, const PairedMeans& whole) const {
    if (whole.count() > 0 || begun_.elements == 0) return whole;
    PairedMeans one;
    one.add(begun_.*ours, begun_.*theirs);
    return one;
}

ErrorMeasure PooledErrors::measure() const {
    ErrorMeasure measure{.rms = ours_.elements > 0 ? std::sqrt(ours_.squares / ours_.elements) : 0,
                         .worst = groups(&Group::our_largest, &Group::their_largest, worst_).ours(),
                         .largest = ours_.largest,
                         .bias = ours_.signed_errors == 0 ? 0 : ours_.signed_errors / ours_.magnitudes,
                         .norm = ours_.error_squares == 0 ? 0 : std::sqrt(ours_.error_squares / ours_.exact_squares)};
    if (!finite_) measure.norm = measure.worst = kInfinity;
    return measure;
}

Ratio PooledErrors::rms_ratio() const {
    if (!finite_) return {.value = kInfinity, .deviation = 0};
    Ratio ratio = groups(&Group::our_squares, &Group::their_squares, squares_).ratio();
    ratio.value = std::sqrt(ratio.value);
    // This is the deviation of a root to first order.
    if (ratio.value > 0) ratio.deviation /= 2 * ratio.value;
    return ratio;
}

Ratio PooledErrors::worst_ratio() const {
    if (!finite_) return {.value = kInfinity, .deviation = 0};
    return groups(&Group::our_largest, &Group::their_largest, worst_).ratio();
}

Misplaced misplaced(const std::vector<float>& c, const std::vector<float>& loop) {
    Misplaced found;
    for (std::size_t i = 0; i < c.size(); ++i)
        if (!in_one_place(c[i], loop[i]) && found.count++ == 0) found.first = i;
    return found;
}

}  // namespace tmm::bench
