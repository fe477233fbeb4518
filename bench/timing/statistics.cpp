// Means and intervals; see statistics.h.
#include "bench/timing/statistics.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include "base/median.h"

namespace tmm::bench {
namespace {

// P(Binomial(n, 1/2) <= successes), by logarithms so that large n do not underflow.
double binomial_half_cdf(std::size_t n, std::size_t successes) {
    const double count = static_cast<double>(n);
    double sum = 0;
    for (std::size_t i = 0; i <= successes; ++i) {
        const double k = static_cast<double>(i);
        sum += std::exp(std::lgamma(count + 1) - std::lgamma(k + 1) - std::lgamma(count - k + 1) - count * std::log(2.0));
    }
    return sum;
}

double sorted_quantile(const std::vector<double>& sorted, double p) {
    const double position = p * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double part = position - static_cast<double>(below);
    return sorted[below] * (1 - part) + sorted[above] * part;
}

}  // namespace

Interval median_interval(std::vector<double> values, double confidence) {
    if (values.empty()) throw std::invalid_argument("the median of no values");
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    std::size_t rank = 1;
    while (rank < (n + 1) / 2 && binomial_half_cdf(n, rank) <= (1 - confidence) / 2) ++rank;
    return {.value = median(values), .low = values[rank - 1], .high = values[n - rank]};
}

Interval geometric_mean_interval(const std::vector<std::vector<double>>& ratios, double confidence, int resamples, std::uint64_t seed) {
    if (ratios.empty()) throw std::invalid_argument("the mean of no shapes");
    const double shapes = static_cast<double>(ratios.size());
    double log_sum = 0;
    for (const std::vector<double>& shape : ratios) {
        if (std::any_of(shape.begin(), shape.end(), [](double ratio) { return !(ratio > 0); }))
            throw std::invalid_argument("a ratio that is not above 0");
        log_sum += std::log(median(shape));
    }

    std::mt19937_64 random(seed);
    std::vector<double> means;
    std::vector<double> drawn;
    for (int resample = 0; resample < resamples; ++resample) {
        double sum = 0;
        for (const std::vector<double>& shape : ratios) {
            drawn.resize(shape.size());
            for (double& value : drawn) value = shape[random() % shape.size()];
            sum += std::log(median(drawn));
        }
        means.push_back(std::exp(sum / shapes));
    }
    Interval result{.value = std::exp(log_sum / shapes), .low = 0, .high = 0};
    result.low = result.high = result.value;
    if (!means.empty()) {
        std::sort(means.begin(), means.end());
        result.low = sorted_quantile(means, (1 - confidence) / 2);
        result.high = sorted_quantile(means, (1 + confidence) / 2);
    }
    return result;
}

}  // namespace tmm::bench
