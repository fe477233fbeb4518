#include "tuner/search/corrected_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "host/portable_math.h"

namespace tmm {
namespace {

// Correlation of two configs' errors for each field in which they differ, and for the field that says most of all, the family. With 0.8 or
// 0.9 searches over recorded times end about as well.
constexpr double kAlike = 0.85;
constexpr double kAlikeFamilies = 0.2;
// For a size it depends on how far apart the two values are: so much for each factor of two.
constexpr double kAlikeDoubled = 0.8;
constexpr int KernelConfig::*kSizes[] = {&KernelConfig::block_m, &KernelConfig::block_n, &KernelConfig::block_k, &KernelConfig::stages,
                                         &KernelConfig::split_k};
// The variance of what all predictions of a problem are off by in common, in units of the variance of what they are off by each: nothing is
// assumed of it.
constexpr double kCommon = 100;
// Standard deviation of a prediction's error before anything is known of the problem, and how many observations that is worth.
constexpr double kPriorDeviation = 0.15;
constexpr double kPriorWeight = 4;
// The part of the errors that no other config tells of, noise included.
constexpr double kOwnDeviation = 0.03;
constexpr double kOwnVariance = (kOwnDeviation / kPriorDeviation) * (kOwnDeviation / kPriorDeviation);
// Standard deviations between what is predicted and what a candidate may well take. With one, searches of 120 recorded shapes lose as much
// and measure an eighth more candidates.
constexpr double kHope = 1.6;
// Each observation takes longer than the one before, and says less.
constexpr std::size_t kMostObservations = 512;

bool is_size(int KernelConfig::*member) {
    return std::find(std::begin(kSizes), std::end(kSizes), member) != std::end(kSizes);
}

double covariance(const KernelConfig& a, const KernelConfig& b) {
    double fields = 0;
    double doublings = 0;
    for (const Parameter& parameter : kParameters) {
        const int of_a = a.*parameter.member;
        const int of_b = b.*parameter.member;
        if (of_a == of_b || parameter.member == &KernelConfig::family) continue;
        if (is_size(parameter.member))
            doublings += std::abs(portable::log2(static_cast<double>(of_a) / of_b));
        else
            ++fields;
    }
    const double families = a.family == b.family ? 1 : kAlikeFamilies;
    return kCommon + families * portable::pow(kAlike, fields) * portable::pow(kAlikeDoubled, doublings);
}

}  // namespace

CorrectedModel::CorrectedModel(std::vector<KernelConfig> configs, std::vector<double> estimates)
    : configs_(std::move(configs)),
      log_estimates_(std::move(estimates)),
      means_(configs_.size()),
      variances_(configs_.size(), kCommon + 1) {
    for (double& estimate : log_estimates_) estimate = portable::log(std::max(estimate, 1e-6));
}

void CorrectedModel::observe(std::size_t place, double microseconds) {
    if (rows_.size() == kMostObservations) return;
    const double deviation = std::sqrt(variances_[place] + kOwnVariance);
    const double innovation = (portable::log(microseconds) - log_estimates_[place] - means_[place]) / deviation;
    std::vector<double> row(configs_.size());
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = covariance(configs_[place], configs_[i]);
    for (const std::vector<double>& earlier : rows_)
        for (std::size_t i = 0; i < row.size(); ++i) row[i] -= earlier[place] * earlier[i];
    for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] /= deviation;
        means_[i] += row[i] * innovation;
        variances_[i] = std::max(variances_[i] - row[i] * row[i], 0.0);
    }
    rows_.push_back(std::move(row));
    innovations_.push_back(innovation);
    sum_of_squares_ += innovation * innovation;
}

// How large errors are here is told by how far off the observations were.
double CorrectedModel::deviation(std::size_t place) const {
    const double scale =
        (kPriorWeight * kPriorDeviation * kPriorDeviation + sum_of_squares_) / (kPriorWeight + static_cast<double>(innovations_.size()));
    return std::sqrt((variances_[place] + kOwnVariance) * scale);
}

double CorrectedModel::lower_confidence_bound(std::size_t place) const {
    return portable::exp(log_estimates_[place] + means_[place] - kHope * deviation(place));
}

double CorrectedModel::chance_below(std::size_t place, double microseconds) const {
    const double distance = portable::log(microseconds) - log_estimates_[place] - means_[place];
    return 0.5 * portable::erfc(-distance / (std::sqrt(2.0) * deviation(place)));
}

}  // namespace tmm
