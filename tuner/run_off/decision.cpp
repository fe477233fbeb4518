#include "tuner/run_off/decision.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/text/text.h"
#include "runtime/select/selection.h"
#include "tuner/measure/timing.h"

namespace tmm {

namespace {

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

}  // namespace

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
    const auto default_finalist = std::find_if(finalists.begin(), finalists.end(), [](const Finalist& f) { return f.is_default; });
    if (default_finalist != finalists.end()) {
        const auto of_default = static_cast<std::size_t>(default_finalist - finalists.begin());
        result.default_us = medians[of_default];
        if (result.default_us < medians[winner]) winner = fastest;
        if (paired_ratio(default_finalist->samples_us, finalists[winner].samples_us) < 1) winner = of_default;
    }
    result.winner = static_cast<int>(winner);
    result.median_us = medians[winner];
    result.medians_us = medians;
    if (finalists.size() == 1) {
        result.verdict = "no other finalist";
        return result;
    }
    std::size_t second = winner == 0 ? 1 : 0;
    for (std::size_t i = 0; i < finalists.size(); ++i)
        if (i != winner && medians[i] < medians[second]) second = i;
    result.runner_up = static_cast<int>(second);
    result.runner_up_us = medians[second];
    if (winner != fastest)
        result.verdict =
            fmt::format("as fast as {} within what the rounds tell, and before it in the search order", to_text(finalists[fastest].config));
    else
        result.verdict =
            fmt::format("beat {} by {:.1f}%", to_text(finalists[second].config), 100 * (result.runner_up_us / result.median_us - 1));
    return result;
}

std::string tally(int measured, const std::map<Outcome, int>& failed) {
    int total = 0;
    std::string list;
    for (const auto& [outcome, count] : failed) {
        total += count;
        list += fmt::format("{}{} {}", list.empty() ? ": " : ", ", count, name_of(outcome));
    }
    return fmt::format("{} candidates measured, {} failed{}", measured, total, list);
}

std::string rejected_text(const std::map<std::string, int>& rejections) {
    constexpr std::size_t kNamed = 4;
    int total = 0;
    int named = 0;
    std::string list;
    const auto sorted = by_count(rejections);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const auto& [reason, count] = sorted[i];
        total += count;
        if (i >= kNamed) continue;
        named += count;
        list += fmt::format("{}{} x {}", list.empty() ? ": " : ", ", count, reason);
    }
    if (total == 0) return {};
    if (sorted.size() > kNamed) list += fmt::format(", {} for {} rarer reasons", total - named, sorted.size() - kNamed);
    return fmt::format("; {} configs rejected before{}", total, list);
}

std::vector<std::pair<std::string, int>> by_count(const std::map<std::string, int>& reasons) {
    std::vector<std::pair<std::string, int>> sorted(reasons.begin(), reasons.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    return sorted;
}

}  // namespace tmm
