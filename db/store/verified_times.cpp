#include "db/store/verified_times.h"

#include <algorithm>

namespace tmm {

std::vector<MeasuredCandidate> verified_times(const std::vector<MeasuredCandidate>& rows) {
    std::vector<MeasuredCandidate> newest;
    for (const MeasuredCandidate& row : rows) {
        const auto is_its = [&](const MeasuredCandidate& known) { return known.config == row.config; };
        if (std::none_of(newest.begin(), newest.end(), is_its)) newest.push_back(row);
    }
    std::erase_if(newest, [](const MeasuredCandidate& candidate) {
        return candidate.measurement.outcome != Outcome::ok || candidate.measurement.median_us <= 0;
    });
    std::stable_sort(newest.begin(), newest.end(), [](const MeasuredCandidate& x, const MeasuredCandidate& y) {
        return x.measurement.median_us < y.measurement.median_us;
    });
    return newest;
}

}  // namespace tmm
