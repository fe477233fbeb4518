#include "tuner/run_off/race.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "generator/text/text.h"
#include "host/portable_math.h"
#include "runtime/select/selection.h"
#include "tuner/measure/timing.h"

namespace tmm {
namespace {

// Something is sure where chance alone would show it that seldom. The finalists are compared after so many rounds, and then each time that
// their number has grown by so much, seven times in a hundred rounds: the chance that a finalist is wronged stays below 2%.
constexpr double kError = 0.001;
constexpr int kFirstLook = 10;
constexpr double kGrowth = 1.4;

// The value below which the share q of the rounds' ratios a / b lies; 1 without rounds.
double paired_quantile(const std::vector<double>& a, const std::vector<double>& b, double q) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        if (b[i] > 0) ratios.push_back(a[i] / b[i]);
    return ratios.empty() ? 1 : quantile(std::move(ratios), q);
}

// Even where two configs are that close, the one that loses nearly every round is the slower one.
bool is_tie(const std::vector<double>& a, const std::vector<double>& fastest) {
    return paired_ratio(a, fastest) <= 1 + kTie && paired_quantile(a, fastest, kRoundsOfTie) <= 1;
}

class Race {
public:
    Race(const RunOffRequest& request, const std::vector<int>& launches) : request_(request), samples_(launches.size()) {
        for (const int count : launches) running_.push_back(count > 0);
    }

    bool runs(std::size_t i) const { return running_[i]; }
    void add(std::size_t i, double microseconds) { samples_[i].push_back(microseconds); }
    std::vector<std::vector<double>> take_samples() { return std::move(samples_); }

    // Returns true once the race is over.
    bool look() {
        drop_beaten();
        const std::vector<std::size_t> left = running();
        if (left.size() < 2) return true;
        const std::size_t winner = left[judge_run_off(finalists(left)).winner];
        return std::all_of(left.begin(), left.end(),
                           [&](std::size_t i) { return i == winner || is_sure(winner, i, 1 + request_.margin, 0.5); });
    }

private:
    std::vector<std::size_t> running() const {
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < running_.size(); ++i)
            if (running_[i]) places.push_back(i);
        return places;
    }

    std::vector<Finalist> finalists(const std::vector<std::size_t>& places) const {
        std::vector<Finalist> all;
        for (const std::size_t i : places)
            all.push_back({.config = request_.configs[i],
                           .order = request_.orders[i],
                           .is_default = request_.orders[i] == 0,
                           .samples_us = samples_[i]});
        return all;
    }

    // Whether a takes less than b's time times the factor more often than in the given part of all rounds.
    bool is_sure(std::size_t a, std::size_t b, double factor, double part) const {
        int count = 0;
        const auto rounds = static_cast<int>(samples_[a].size());
        for (std::size_t round = 0; round < samples_[a].size(); ++round) count += samples_[a][round] < factor * samples_[b][round];
        return chance_of_at_least(count, rounds, part) <= kError;
    }

    void drop_beaten() {
        const std::vector<std::size_t> left = running();
        if (left.empty()) return;
        std::vector<double> medians(samples_.size());
        for (const std::size_t i : left) medians[i] = quantile(samples_[i], 0.5);
        const std::size_t fastest =
            *std::min_element(left.begin(), left.end(), [&](std::size_t a, std::size_t b) { return medians[a] < medians[b]; });
        for (const std::size_t i : left)
            if (i != fastest && (is_sure(fastest, i, 1 / (1 + kTie), 0.5) || is_sure(fastest, i, 1, 1 - kRoundsOfTie))) running_[i] = false;
    }

    const RunOffRequest& request_;
    std::vector<bool> running_;
    std::vector<std::vector<double>> samples_;
};

}  // namespace

std::vector<std::vector<double>> race(const RunOffRequest& request, const std::vector<int>& launches, double between_us,
                                      const std::function<double(std::size_t)>& sample) {
    Race race(request, launches);
    const std::size_t count = launches.size();
    double used_us = 0;
    int next_look = kFirstLook;
    for (int round = 0; round < request.rounds; ++round) {
        const double before_us = used_us;
        for (std::size_t turn = 0; turn < count; ++turn) {
            // Every round begins with another finalist, and every other round runs backwards, so that no finalist always follows the same
            // one.
            const std::size_t shifted = (turn + static_cast<std::size_t>(round) / 2) % count;
            const std::size_t i = round % 2 == 0 ? shifted : count - 1 - shifted;
            if (!race.runs(i)) continue;
            const double microseconds = sample(i);
            race.add(i, microseconds);
            used_us += (microseconds + between_us) * launches[i];
        }
        const int rounds = round + 1;
        if (rounds >= request.min_rounds && 2 * used_us - before_us > request.total_us) break;
        if (request.orders.empty() || rounds < next_look) continue;
        next_look = static_cast<int>(std::ceil(kGrowth * rounds));
        if (race.look()) break;
    }
    return race.take_samples();
}

double chance_of_at_least(int count, int rounds, double probability) {
    double chance = 0;
    double of_exactly = portable::pow(1 - probability, rounds);
    for (int i = 0; i <= rounds; ++i) {
        if (i >= count) chance += of_exactly;
        of_exactly *= (rounds - i) * probability / ((i + 1) * (1 - probability));
    }
    return std::min(chance, 1.0);
}

double paired_ratio(const std::vector<double>& a, const std::vector<double>& b) {
    return paired_quantile(a, b, 0.5);
}

RunOffResult judge_run_off(const std::vector<Finalist>& finalists) {
    std::size_t rounds = 0;
    for (const Finalist& finalist : finalists) rounds = std::max(rounds, finalist.samples_us.size());
    const auto stayed = [&](std::size_t i) { return finalists[i].samples_us.size() == rounds; };
    std::vector<double> medians;
    for (const Finalist& finalist : finalists) medians.push_back(quantile(finalist.samples_us, 0.5));
    std::size_t fastest = finalists.size();
    for (std::size_t i = 0; i < finalists.size(); ++i)
        if (stayed(i) && (fastest == finalists.size() || medians[i] < medians[fastest])) fastest = i;
    for (std::size_t i = 0; i < finalists.size(); ++i)
        if (!stayed(i)) medians[i] = medians[fastest] * paired_ratio(finalists[i].samples_us, finalists[fastest].samples_us);

    std::size_t winner = fastest;
    for (std::size_t i = 0; i < finalists.size(); ++i) {
        const bool tied = stayed(i) && is_tie(finalists[i].samples_us, finalists[fastest].samples_us);
        if (tied && finalists[i].order < finalists[winner].order) winner = i;
    }
    RunOffResult result;
    TuningDatabase::Decision& decision = result.decision;
    const auto default_finalist = std::find_if(finalists.begin(), finalists.end(), [](const Finalist& f) { return f.is_default; });
    if (default_finalist != finalists.end()) {
        const auto of_default = static_cast<std::size_t>(default_finalist - finalists.begin());
        decision.default_us = medians[of_default];
        if (decision.default_us < medians[winner]) winner = fastest;
        if (paired_ratio(default_finalist->samples_us, finalists[winner].samples_us) < 1) winner = of_default;
    }
    result.winner = winner;
    decision.config = finalists[winner].config;
    decision.median_us = medians[winner];
    result.medians_us = medians;
    if (finalists.size() == 1) {
        decision.reason = "no other finalist";
        return result;
    }
    std::size_t second = winner == 0 ? 1 : 0;
    for (std::size_t i = 0; i < finalists.size(); ++i)
        if (i != winner && medians[i] < medians[second]) second = i;
    decision.runner_up = finalists[second].config;
    decision.runner_up_us = medians[second];
    if (winner != fastest)
        decision.reason =
            fmt::format("as fast as {} within what the rounds tell, and before it in the search order", to_text(finalists[fastest].config));
    else
        decision.reason =
            fmt::format("beat {} by {:.1f}%", to_text(finalists[second].config), 100 * (medians[second] / medians[winner] - 1));
    return result;
}

}  // namespace tmm
