#include "tuner/corrected_order.h"

#include <algorithm>
#include <map>

#include "tuner/timing.h"

namespace tmm {
namespace {

// Corrections of families that differ by less change nothing.
constexpr double kNotable = 1.15;

}  // namespace

bool correct_order(std::vector<std::size_t>& places, const std::vector<Candidate>& candidates, const std::vector<double>& estimates,
                   const std::vector<std::optional<Measurement>>& results) {
    std::map<int, std::vector<double>> ratios;
    for (std::size_t i = 0; i < results.size(); ++i)
        if (results[i] && results[i]->outcome == Outcome::ok && results[i]->median_us > 0 && estimates[i] > 0)
            ratios[candidates[i].config.family].push_back(results[i]->median_us / estimates[i]);
    std::map<int, double> corrections;
    for (const std::size_t place : places) corrections[candidates[place].config.family] = 1;
    for (auto& [family, correction] : corrections)
        if (const auto of_family = ratios.find(family); of_family != ratios.end()) correction = quantile(of_family->second, 0.5);
    const auto [least, most] =
        std::minmax_element(corrections.begin(), corrections.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (corrections.size() < 2 || most->second < kNotable * least->second) return false;

    struct Entry {
        std::size_t place;
        double microseconds;
    };
    std::vector<Entry> entries;
    std::map<int, double> slowest;
    for (const std::size_t place : places) {
        const int family = candidates[place].config.family;
        double& before = slowest[family];
        before = std::max(before, estimates[place] * corrections[family]);
        entries.push_back(Entry{.place = place, .microseconds = before});
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.microseconds < b.microseconds; });
    std::transform(entries.begin(), entries.end(), places.begin(), [](const Entry& entry) { return entry.place; });
    return true;
}

}  // namespace tmm
