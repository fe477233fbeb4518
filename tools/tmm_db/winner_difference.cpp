#include "tools/tmm_db/winner_difference.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "generator/machine/device_info.h"
#include "generator/problem/problem_forms.h"
#include "host/portable_math.h"

namespace tmm {
namespace {

std::vector<WinnerRow> own_winners(TuningDatabase& database, const DeviceFilter& devices) {
    auto winners = database.winners();
    std::erase_if(winners, [&](const WinnerRow& winner) { return winner.origin != "user" || !devices.takes(winner.device); });
    return winners;
}

std::vector<DeviceModel> models_of(const std::vector<WinnerRow>& winners) {
    std::vector<DeviceModel> models;
    for (const WinnerRow& winner : winners)
        if (std::find(models.begin(), models.end(), model_of(winner)) == models.end()) models.push_back(model_of(winner));
    return models;
}

// The one device on each side, where they are different ones.
std::optional<std::pair<DeviceModel, DeviceModel>> devices_across(const std::vector<WinnerRow>& a, const std::vector<WinnerRow>& b,
                                                                  bool asked) {
    const std::vector<DeviceModel> of_a = models_of(a), of_b = models_of(b);
    if (of_a.size() == 1 && of_b.size() == 1 && of_a.front() != of_b.front()) return std::pair(of_a.front(), of_b.front());
    for (const std::vector<DeviceModel>* models : {&of_a, &of_b}) {
        if (!asked || models->size() <= 1) continue;
        std::vector<std::string> names;
        for (const DeviceModel& model : *models) names.push_back(model.name);
        throw Error(ExitStatus::usage, fmt::format("{} has winners of several devices", models == &of_a ? "A" : "B"),
                    models == &of_a ? "--gpu" : "--against", fmt::format("write more of a name: {}", listed_names(names)));
    }
    return std::nullopt;
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

WinnerDifference winner_difference(TuningDatabase& a, TuningDatabase& b, const DeviceFilter& of_a, const DeviceFilter& of_b, bool across) {
    const auto hash = [](const GemmProblem& problem) { return static_cast<std::size_t>(hash_of(problem)); };
    std::unordered_multimap<GemmProblem, std::size_t, decltype(hash)> places(16, hash);
    WinnerDifference difference;
    std::vector<WinnerRow> winners_of_a = own_winners(a, of_a), winners_of_b = own_winners(b, of_b);
    difference.across = devices_across(winners_of_a, winners_of_b, across);
    for (WinnerRow& winner : winners_of_a) {
        places.emplace(winner.problem, difference.pairs.size());
        difference.pairs.push_back({.a = std::move(winner), .b = {}});
    }
    for (WinnerRow& winner : winners_of_b) {
        const auto [begin, end] = places.equal_range(winner.problem);
        const auto same = std::find_if(begin, end, [&](const auto& place) {
            return difference.across || model_of(*difference.pairs[place.second].a) == model_of(winner);
        });
        if (same != end)
            difference.pairs[same->second].b = std::move(winner);
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
