#include "tuner/search/measured_order.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tmm {
namespace {

double own_time_of(const Candidate& candidate, const std::vector<MeasuredCandidate>& rows) {
    const MeasuredCandidate* earlier = nullptr;
    const MeasuredCandidate* todays = nullptr;
    // The rows are ordered newest first.
    for (const MeasuredCandidate& row : rows) {
        if (row.measurement.outcome != Outcome::ok || row.measurement.median_us <= 0 || row.config != candidate.config) continue;
        const MeasuredCandidate*& place = row.measurement.kernel_hash == candidate.kernel_hash ? todays : earlier;
        if (place == nullptr) place = &row;
    }
    if (earlier != nullptr) return earlier->measurement.median_us;
    return todays != nullptr ? todays->measurement.median_us : std::numeric_limits<double>::infinity();
}

bool differ_in_variant_alone(KernelConfig a, const KernelConfig& b) {
    a.overlap = b.overlap;
    a.fma_order = b.fma_order;
    return a == b;
}

// If nothing is known of a config, its time is that of the fastest config with the other overlap or another order of its products.
double time_of(const Candidate& candidate, const std::vector<MeasuredCandidate>& rows) {
    double time = own_time_of(candidate, rows);
    if (time < std::numeric_limits<double>::infinity()) return time;
    for (const MeasuredCandidate& row : rows)
        if (row.measurement.outcome == Outcome::ok && row.measurement.median_us > 0 &&
            differ_in_variant_alone(row.config, candidate.config))
            time = std::min(time, row.measurement.median_us);
    return time;
}

}  // namespace

std::vector<Candidate> fastest_measured(const std::vector<Candidate>& predicted, const std::vector<Candidate>& all,
                                        const std::vector<MeasuredCandidate>& rows) {
    // All candidates that may be chosen, the predicted first.
    std::vector<Candidate> eligible = predicted;
    for (const Candidate& candidate : all) {
        const auto same = [&](const Candidate& other) { return other.config == candidate.config; };
        if (std::none_of(eligible.begin(), eligible.end(), same)) eligible.push_back(candidate);
    }
    std::vector<double> times;
    for (const Candidate& candidate : eligible) times.push_back(time_of(candidate, rows));
    if (!times.empty()) times.front() = 0;
    std::vector<std::size_t> order(eligible.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
    order.resize(predicted.size());
    std::sort(order.begin(), order.end());
    std::vector<Candidate> chosen;
    for (const std::size_t i : order) chosen.push_back(eligible[i]);
    return chosen;
}

}  // namespace tmm
