#include "tuner/search/sampling.h"

#include <algorithm>
#include <tuple>

namespace tmm {
namespace {

// First samples slower than this many times the best are not refined.
constexpr double kHopeless = 3;
// No candidate that is nearer to the best than this is kept from the run-off for its own sake: times that are taken one by one compare
// otherwise by that much.
constexpr double kNear = 0.03;
// A time that is known to this part of itself needs no more samples, even where it is not surely on one side of the bar.
constexpr double kPrecision = 0.01;

// 225x4096x4096 nt of bf16 ended after 37 results, all of one kind, and what they led to took 1.26 times as long as the fastest at 260
// rows.
constexpr int kResultsForOthers = 3;
// Finalists must have come this near to the fastest.
constexpr double kWithin = 1.5;

bool share_tile(const KernelConfig& x, const KernelConfig& y) {
    const auto tile = [](const KernelConfig& c) {
        return std::tie(c.family, c.block_m, c.block_n, c.thread_m, c.thread_n, c.warps_m, c.warps_n, c.swap_ab, c.planes, c.ping_pong);
    };
    return tile(x) == tile(y);
}

// The most that a finalist takes; 0 where there are not enough of them yet.
double bar_of(const std::vector<std::optional<Measurement>>& results, const std::vector<std::size_t>& fastest, std::size_t places) {
    if (!fastest.empty() && results[fastest.front()]->throttled) places *= kPlacesWhereThrottled;
    if (fastest.size() < places) return 0;
    return std::max(results[fastest[places - 1]]->median_us, (1 + kNear) * results[fastest.front()]->median_us);
}

}  // namespace

TimingOptions timing_options(bool emulated, Effort effort, const std::vector<std::optional<Measurement>>& results) {
    const std::vector<std::size_t> fastest = fastest_first(results);
    const double hopeless = fastest.empty() ? 0 : kHopeless * results[fastest.front()]->median_us;
    // The emulation's times say nothing of a GPU's: a few samples will do.
    if (emulated) return TimingOptions{.sample_us = 200, .samples = 3, .total_us = 5000, .min_samples = 1, .abandon_above_us = hopeless};
    constexpr int kSamples[] = {5, 7, 15};
    return TimingOptions{.sample_us = 1000,
                         .samples = kSamples[static_cast<int>(effort)],
                         .total_us = 30000,
                         .min_samples = 3,
                         .bar_us = bar_of(results, fastest, finalist_places(emulated, effort)),
                         .precision = kPrecision,
                         .abandon_above_us = hopeless};
}

RunOffRequest run_off_request(bool emulated, Effort effort, double seconds) {
    if (emulated) return RunOffRequest{.configs = {}, .rounds = 9, .min_rounds = 3, .sample_us = 200, .total_us = 200000};
    constexpr int kRounds[] = {30, 40, 100};
    RunOffRequest request{.configs = {},
                          .rounds = kRounds[static_cast<int>(effort)],
                          .min_rounds = 30,
                          .sample_us = 1000,
                          .total_us = 4e6,
                          .settle_us = 200000,
                          .margin = certainty_of(effort).margin};
    if (seconds * 1e6 < 2 * request.total_us) {
        request.min_rounds = 5;
        request.total_us = 0.5e6 * seconds;
        request.settle_us = std::min(request.settle_us, 0.1e6 * seconds);
    }
    return request;
}

std::size_t finalist_places(bool emulated, Effort effort) {
    if (emulated) return 3;
    constexpr std::size_t kCounts[] = {4, 8, 10};
    return kCounts[static_cast<int>(effort)];
}

std::vector<std::size_t> pick_finalists(const std::vector<Candidate>& candidates, const std::vector<std::optional<Measurement>>& results,
                                        std::size_t places) {
    const std::vector<std::size_t> fastest = fastest_first(results);
    if (fastest.empty()) return fastest;

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
    if (passed(results[0]) && std::find(finalists.begin(), finalists.end(), std::size_t{0}) == finalists.end()) finalists.push_back(0);
    return finalists;
}

Certainty certainty_of(Effort effort) {
    switch (effort) {
        case Effort::quick: return {.margin = 0.02, .chance = 0.2, .least_observations = 16, .seconds = 1, .least_results = 12};
        case Effort::normal: return {.margin = 0.01, .chance = 0.1, .least_observations = 32, .seconds = 5, .least_results = 32};
        case Effort::full: break;
    }
    return {.margin = 0.002, .chance = 0.01, .least_observations = 32};
}

int least_results(const Certainty& certainty, bool is_sample_size) {
    return certainty.least_results * (is_sample_size ? kResultsForOthers : 1);
}

}  // namespace tmm
