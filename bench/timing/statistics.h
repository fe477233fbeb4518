// Means, and intervals of medians and means: the arithmetic behind a claimed speed.
#pragma once

#include <cstdint>
#include <vector>

namespace tmm::bench {

struct Interval {
    double value = 0;
    double low = 0;
    double high = 0;
};

// The median with its distribution-free interval between two order statistics: [x(l), x(n+1-l)] for the largest l with
// P(Binomial(n, 1/2) < l) <= (1 - confidence) / 2 (David and Nagaraja, Order Statistics, 7.1). Where so few values have no
// such l (fewer than 6 at 95%), the interval is the whole range.
Interval median_interval(std::vector<double> values, double confidence = 0.95);

// The geometric mean over shapes of each shape's median ratio. ratios[shape] holds the shape's pair ratios, all above 0. The
// interval is the percentile bootstrap (Efron and Tibshirani, chapter 13): pairs are drawn again within each shape, the
// shapes stay, so it speaks of these shapes and no others. The same ratios give the same interval.
Interval geometric_mean_interval(const std::vector<std::vector<double>>& ratios, double confidence = 0.95, int resamples = 2000,
                                 std::uint64_t seed = 1);

}  // namespace tmm::bench
