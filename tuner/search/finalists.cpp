#include "tuner/search/finalists.h"

#include <algorithm>
#include <tuple>

namespace tmm {
namespace {

// Finalists must have come this near to the fastest.
constexpr double kWithin = 1.5;

bool share_tile(const KernelConfig& x, const KernelConfig& y) {
    const auto tile = [](const KernelConfig& c) {
        return std::tie(c.family, c.block_m, c.block_n, c.thread_m, c.thread_n, c.warps_m, c.warps_n, c.swap_ab, c.planes, c.ping_pong);
    };
    return tile(x) == tile(y);
}

}  // namespace

std::vector<std::size_t> pick_finalists(const std::vector<Candidate>& candidates, const std::vector<std::optional<Measurement>>& results,
                                        std::size_t places) {
    const auto passed = [&](std::size_t i) { return results[i] && results[i]->outcome == Outcome::ok && results[i]->median_us > 0; };
    std::vector<std::size_t> fastest;
    for (std::size_t i = 0; i < results.size(); ++i)
        if (passed(i)) fastest.push_back(i);
    if (fastest.empty()) return fastest;
    std::stable_sort(fastest.begin(), fastest.end(),
                     [&](std::size_t a, std::size_t b) { return results[a]->median_us < results[b]->median_us; });

    const bool throttled = results[fastest.front()]->throttled;
    if (throttled) places *= kPlacesWhereThrottled;
    const std::size_t tiles = throttled ? 8 : 2;
    const std::size_t places_of_tile = (places + tiles - 1) / tiles;
    std::vector<std::size_t> finalists;
    std::vector<std::size_t> beside;
    for (const std::size_t i : fastest) {
        if (results[i]->median_us > kWithin * results[fastest.front()]->median_us || finalists.size() == places) break;
        const auto same_tile = std::count_if(finalists.begin(), finalists.end(),
                                             [&](std::size_t other) { return share_tile(candidates[i].config, candidates[other].config); });
        (static_cast<std::size_t>(same_tile) < places_of_tile ? finalists : beside).push_back(i);
    }
    for (std::size_t i = 0; i < beside.size() && finalists.size() < places; ++i) finalists.push_back(beside[i]);
    if (passed(0) && std::find(finalists.begin(), finalists.end(), std::size_t{0}) == finalists.end()) finalists.push_back(0);
    return finalists;
}

}  // namespace tmm
