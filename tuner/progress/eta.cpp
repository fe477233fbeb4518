#include "tuner/progress/eta.h"

#include <algorithm>

namespace tmm {

void Eta::begin_problem(int worker, double now) {
    current_[worker] = Current{.start = now};
}

void Eta::update(int worker, int done, int candidates) {
    Current& current = current_[worker];
    if (!current.known) current.known = done;
    current.done = done;
    current.candidates = candidates;
}

void Eta::end_problem(int worker, double now) {
    const auto ended = current_.find(worker);
    if (ended == current_.end()) return;
    ++problems_done_;
    seconds_done_ += now - ended->second.start;
    current_.erase(ended);
}

std::optional<double> Eta::expected_of(const Current& current, double now) const {
    const double taken = now - current.start;
    std::optional<double> most;
    if (pace_.problem_seconds > 0) most = pace_.problem_seconds;
    if (const int measured = current.done - current.known.value_or(0); measured > 0) {
        const double of_one = taken / measured;
        const double of_all = taken + of_one * std::max(0, current.candidates - current.done);
        const double of_least = taken + of_one * std::max(0, pace_.least_results - current.done);
        most = most ? std::min(of_all, std::max(*most, of_least)) : of_all;
    }
    if (problems_done_ == 0) return most ? std::optional(std::max(*most, taken)) : std::nullopt;
    // One that takes longer than the others did may take as long as it is allowed to.
    const double typical = seconds_done_ / problems_done_;
    if (taken < typical) return most ? std::min(typical, *most) : typical;
    return std::max(most.value_or(taken), taken);
}

Eta::Expected Eta::expected(double now) const {
    double share = problems_done_, left = 0, longest = 0, sum = 0;
    int told = 0;
    for (const auto& [worker, current] : current_) {
        const auto seconds = expected_of(current, now);
        if (!seconds) continue;
        const double taken = now - current.start;
        ++told;
        sum += *seconds;
        left += *seconds - taken;
        longest = std::max(longest, *seconds - taken);
        if (*seconds > 0) share += taken / *seconds;
    }
    Expected expected{.share = problems_ > 0 ? std::clamp(share / problems_, 0.0, 1.0) : 0};
    const auto at_once = static_cast<int>(current_.size());
    if (problems_done_ > 0 || told > 0) {
        const double each = problems_done_ > 0 ? seconds_done_ / problems_done_ : sum / told;
        // Those that have told nothing yet wait like the others.
        left += each * std::max(0, problems_ - problems_done_ - told);
        expected.seconds = std::max(left / std::max(at_once, 1), longest);
    }
    if (pace_.budget_seconds > 0) {
        const double of_budget = std::max(pace_.budget_seconds - now, 0.0);
        expected.seconds = std::min(expected.seconds.value_or(of_budget), of_budget);
    }
    return expected;
}

}  // namespace tmm
