#include "tuner/search/hold_run_off.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "generator/text/text.h"
#include "runtime/select/selection.h"
#include "tuner/run_off/race.h"
#include "tuner/search/measure_candidate.h"
#include "tuner/search/sampling.h"

namespace tmm {
namespace {

constexpr int kRunOffAttempts = 5;
// The least time of a run-off in units of the finalists' own times, to record them, sample them once and verify them.
constexpr double kRunOffLaunches = 4;
constexpr double kNoLimit_s = 1e9;

// One attempt to let the entrants race.
struct Attempt {
    // The verdict, or how the search ends; where there is neither, another attempt may come to its end.
    std::optional<RunOffVerdict> verdict = {};
    std::optional<Phase> end = {};
    // It was ended from outside; nothing where it did not come so far.
    std::optional<bool> disturbed = {};
};

// The entrants' places in the order that settles ties. It is the same however often the search was interrupted: those that the search did
// not offer come last, by their fields.
std::vector<int> orders_of(const std::vector<Candidate>& candidates, const std::vector<std::size_t>& entrants) {
    std::vector<std::string> others;
    for (const std::size_t i : entrants)
        if (candidates[i].order == kOutsideSearch) others.push_back(fields_text(candidates[i].config));
    std::sort(others.begin(), others.end());
    std::vector<int> orders;
    for (const std::size_t i : entrants) {
        const auto place = std::lower_bound(others.begin(), others.end(), fields_text(candidates[i].config)) - others.begin();
        const bool is_other = candidates[i].order == kOutsideSearch;
        orders.push_back(is_other ? kOutsideSearch - static_cast<int>(others.size()) + static_cast<int>(place) : candidates[i].order);
    }
    return orders;
}

std::vector<std::size_t> finalists_of(const ProblemSearch& s) {
    // The few that race an old winner all meet it.
    const std::size_t places = s.is_rematch ? s.candidates.size() : finalist_places(s.emulated(), s.context.options.effort);
    return pick_finalists(s.candidates, s.results, places);
}

// Returns how the search ends where the time is too short, or the run is interrupted.
std::optional<Phase> compile_all(ProblemSearch& s, const std::vector<std::size_t>& entrants) {
    s.request_in_order(entrants);
    double once_us = 0;
    for (const std::size_t i : entrants) once_us += s.results[i]->median_us;
    if (kRunOffLaunches * once_us * 1e-6 > s.left()) return Phase::out_of_time;
    for (const std::size_t i : entrants)
        if (const auto end = s.compile(i)) return end;
    return std::nullopt;
}

// The candidate passed when it ran by itself; the database learns now that it does not.
void fail_in_run_off(ProblemSearch& s, std::size_t index, Outcome outcome, const std::string& detail, double error_ratio) {
    Measurement m = *s.results[index];
    m.outcome = outcome;
    m.detail = "in the run-off: " + detail;
    m.error_ratio = std::max(m.error_ratio, error_ratio);
    s.keep(index, std::move(m));
    s.save();
}

// Returns nothing where no finalist passed.
std::optional<RunOffVerdict> judge(ProblemSearch& s, const std::vector<std::size_t>& entrants, const RunOffDone& done) {
    const std::vector<int> orders = orders_of(s.candidates, entrants);
    std::vector<Finalist> finalists;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < entrants.size(); ++i) {
        const RunOffDone::Finalist& seen = done.finalists[i];
        if (seen.outcome != Outcome::ok) {
            fail_in_run_off(s, entrants[i], seen.outcome, seen.detail, seen.error_ratio);
            continue;
        }
        Measurement& known = *s.results[entrants[i]];
        known.error_ratio = std::max(known.error_ratio, seen.error_ratio);
        finalists.push_back({.config = s.candidates[entrants[i]].config,
                             .order = orders[i],
                             .is_default = entrants[i] == 0,
                             .samples_us = seen.samples_us});
        places.push_back(entrants[i]);
    }
    if (finalists.empty()) return std::nullopt;
    RunOffResult result = judge_run_off(finalists);
    std::size_t rounds = 0;
    for (const Finalist& finalist : finalists) rounds = std::max(rounds, finalist.samples_us.size());
    result.decision.reason += fmt::format(" in a run-off of {} over {} rounds", finalists.size(), rounds);
    RunOffVerdict verdict{.winner = places[result.winner], .decision = std::move(result.decision)};
    for (std::size_t i = 0; i < finalists.size(); ++i)
        if (s.pending.earlier && finalists[i].config == s.pending.earlier->config) verdict.old_winner_us = result.medians_us[i];
    return verdict;
}

// The request, and the seconds that the finalists are expected to take, with all that a busy machine adds.
struct Planned {
    RunOffRequest request;
    double limit_seconds = 0;
};

Planned plan(const ProblemSearch& s, const std::vector<std::size_t>& entrants) {
    const double kept = s.kept_for_run_off() > 0 ? s.kept_for_run_off() : kNoLimit_s;
    RunOffRequest request = run_off_request(s.emulated(), s.context.options.effort, std::min(s.left(), kept));
    double expected_us = 0;
    for (const std::size_t i : entrants) {
        request.configs.push_back(s.candidates[i].config);
        expected_us += std::max(s.results[i]->median_us, request.sample_us) * request.rounds;
    }
    request.orders = orders_of(s.candidates, entrants);
    const double limit = s.deadline() * static_cast<double>(entrants.size()) + 10 * (expected_us + request.settle_us) * 1e-6;
    return {.request = std::move(request), .limit_seconds = limit};
}

Attempt try_run_off(ProblemSearch& s, const std::vector<std::size_t>& entrants) {
    const auto [request, limit] = plan(s, entrants);
    if (const auto end = compile_all(s, entrants)) return {.end = end};
    // The default config is not announced: untuned calls run it all the same, so nothing is won by excluding it.
    std::vector<Announcement> announced;
    for (const std::size_t i : entrants)
        if (i != 0) announced.push_back({.config = s.candidates[i].config, .kernel_name = s.candidates[i].kernel_name});
    int running = -1;
    WorkerConnection::Answer answer = WorkerConnection::Lost{};
    while (std::holds_alternative<WorkerConnection::Lost>(answer)) {
        if (const auto end = prepare(s)) return {.end = end};
        const double start = s.now();
        s.context.database.announce(s.problem(), announced);
        answer = s.context.worker.ask(request, limit, s.left(), [&](int index) { running = index; });
        s.context.database.withdraw(s.problem(), announced);
        s.context.run_off_seconds = s.now() - start;
    }
    if (std::holds_alternative<WorkerConnection::Interrupted>(answer)) return {.end = Phase::interrupted};
    const auto* late = std::get_if<WorkerConnection::TimedOut>(&answer);
    if (late && late->turn_is_over) return {.end = Phase::out_of_time};
    const auto* died = std::get_if<WorkerConnection::Died>(&answer);
    const auto* reply = std::get_if<Reply>(&answer);
    if ((died && died->from_outside) || (reply && std::holds_alternative<NotMeasured>(*reply))) return {.disturbed = true};
    if ((died || late) && running >= 0 && running < static_cast<int>(entrants.size()))
        fail_in_run_off(s, entrants[static_cast<std::size_t>(running)], died ? Outcome::crashed : Outcome::timed_out,
                        died ? "worker " + died->how : fmt::format("no result within {:.1f} s", limit), -1);
    const auto* done = reply ? std::get_if<RunOffDone>(reply) : nullptr;
    if (done == nullptr || done->finalists.size() != entrants.size()) return {.disturbed = false};
    return {.verdict = judge(s, entrants, *done), .disturbed = false};
}

// The finalists passed every check when each ran by itself, so the best of them is a sound choice without a run-off, too.
std::variant<RunOffVerdict, Phase> decide_alone(ProblemSearch& s, bool is_out_of_time, bool disturbed) {
    const std::vector<std::size_t> entrants = finalists_of(s);
    if (entrants.empty()) return s.no_winner("no candidate survived the run-off");
    std::size_t winner = entrants.front();
    const double best_us = s.results[winner]->median_us;
    if (s.passed(0) && s.results[0]->median_us <= best_us * (1 + kTie)) winner = 0;
    s.cut = s.cut || is_out_of_time;
    return RunOffVerdict{
        .winner = winner,
        .decision = {.config = s.candidates[winner].config,
                     .median_us = s.results[winner]->median_us,
                     .reason = is_out_of_time ? "fastest by itself; the budget left no time for a run-off"
                                              : fmt::format("fastest by itself; no run-off of {} tries came to its end", kRunOffAttempts)},
        .disturbed = disturbed};
}

}  // namespace

std::variant<RunOffVerdict, Phase> hold_run_off(ProblemSearch& s) {
    // The default config is what an untuned call runs: no other is chosen before it could take part in a run-off.
    if (const auto why = s.given_up.find(0); why != s.given_up.end())
        return s.no_winner(fmt::format("the default config could not be measured: {}; run again", why->second));
    if (!s.results.empty() && s.results.front() && s.results.front()->outcome == Outcome::compile_failed)
        return s.no_winner(fmt::format("the default config does not compile: {}", s.results.front()->detail));
    bool disturbed = false;
    for (int i = 0; i < kRunOffAttempts; ++i) {
        const std::vector<std::size_t> entrants = finalists_of(s);
        if (entrants.empty() && s.cut) return Phase::out_of_time;
        if (entrants.empty()) return s.no_winner("no candidate passed: " + tally(s.outcomes(), s.failed()));
        if (entrants.size() == 1) {
            const double median_us = s.results[entrants.front()]->median_us;
            return RunOffVerdict{.winner = entrants.front(),
                                 .decision = {.config = s.candidates[entrants.front()].config,
                                              .median_us = median_us,
                                              .reason = "the only candidate that came near",
                                              .default_us = entrants.front() == 0 ? median_us : 0},
                                 .disturbed = disturbed};
        }
        Attempt attempt = try_run_off(s, entrants);
        disturbed = attempt.disturbed.value_or(disturbed);
        if (attempt.verdict) return *std::move(attempt.verdict);
        if (attempt.end == Phase::out_of_time) return decide_alone(s, true, disturbed);
        if (attempt.end) return *attempt.end;
    }
    return decide_alone(s, false, disturbed);
}

}  // namespace tmm
