// Sums over the elements; see error_measure.h.
#include "bench/error_measure.h"

#include <cmath>
#include <limits>

namespace tmm::bench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool in_one_place(float x, float y) {
    if (std::isfinite(x)) return std::isfinite(y);
    return std::isnan(x) ? std::isnan(y) : x == y;
}

}  // namespace

ErrorMeasure measure_errors(const std::vector<float>& c, const std::vector<float>& loop, const ExactProduct& exact) {
    ErrorMeasure measure;
    double error_squares = 0;
    double exact_squares = 0;
    double signed_errors = 0;
    double exact_sum = 0;
    bool finite = true;
    for (std::size_t i = 0; i < c.size(); ++i) {
        if (!std::isfinite(loop[i])) continue;
        const double value = exact.value[i];
        const double error = c[i] - value;
        exact_squares += value * value;
        exact_sum += std::fabs(value);
        finite = finite && std::isfinite(error);
        if (std::isfinite(error)) {
            error_squares += error * error;
            signed_errors += value < 0 ? -error : value > 0 ? error : 0;
        }
        const double worst = !std::isfinite(error) ? kInfinity : error == 0 ? 0 : std::fabs(error) / exact.magnitude[i] * 0x1p24;
        if (worst > measure.worst) {
            measure.worst = worst;
            measure.worst_at = i;
        }
    }
    measure.norm = !finite ? kInfinity : error_squares == 0 ? 0 : std::sqrt(error_squares / exact_squares);
    measure.bias = signed_errors == 0 ? 0 : signed_errors / exact_sum;
    return measure;
}

Misplaced misplaced(const std::vector<float>& c, const std::vector<float>& loop) {
    Misplaced found;
    for (std::size_t i = 0; i < c.size(); ++i)
        if (!in_one_place(c[i], loop[i]) && found.count++ == 0) found.first = i;
    return found;
}

double error_ratio(double ours, double theirs) {
    if (theirs > 0) return ours / theirs;
    return ours > 0 ? kInfinity : 1;
}

}  // namespace tmm::bench
