#include "db/winner_difference.h"

#include <algorithm>

#include "generator/machine/device_model.h"
#include "host/portable_math.h"

namespace tmm {
namespace {

bool same_subject(const WinnerRow& x, const WinnerRow& y) {
    return x.problem == y.problem && model_of(x) == model_of(y);
}

std::vector<WinnerRow> own_winners(TuningDatabase& database, const DeviceFilter& devices) {
    auto winners = database.winners();
    std::erase_if(winners, [&](const WinnerRow& winner) { return winner.origin != "user" || !devices.takes(winner.device); });
    return winners;
}

void count(WinnerDifference& difference, const WinnerPair& pair) {
    if (!pair.b) return void(++difference.only_a);
    if (!pair.a) return void(++difference.only_b);
    ++difference.both;
    if (!pair.same_config()) ++difference.different;
}

}  // namespace

double WinnerPair::ratio() const {
    return a && b && a->median_us > 0 && b->median_us > 0 ? a->median_us / b->median_us : 0;
}

WinnerDifference winner_difference(TuningDatabase& a, TuningDatabase& b, const DeviceFilter& devices) {
    WinnerDifference difference;
    for (WinnerRow& winner : own_winners(a, devices)) difference.pairs.push_back({.a = std::move(winner), .b = {}});
    for (WinnerRow& winner : own_winners(b, devices)) {
        const auto same = std::find_if(difference.pairs.begin(), difference.pairs.end(),
                                       [&](const WinnerPair& pair) { return pair.a && same_subject(*pair.a, winner); });
        if (same != difference.pairs.end())
            same->b = std::move(winner);
        else
            difference.pairs.push_back({.a = {}, .b = std::move(winner)});
    }
    double log_sum = 0;
    for (const WinnerPair& pair : difference.pairs) {
        count(difference, pair);
        if (pair.ratio() > 0) ++difference.timed, log_sum += portable::log(pair.ratio());
    }
    if (difference.timed > 0) difference.mean_ratio = portable::exp(log_sum / difference.timed);
    return difference;
}

}  // namespace tmm
