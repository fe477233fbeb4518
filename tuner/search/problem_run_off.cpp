// The run-off of a problem's finalists, and the decision.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/processes/elapsed.h"
#include "generator/text/text.h"
#include "runtime/select/selection.h"
#include "tuner/run_off/decision.h"
#include "tuner/search/earlier_decision.h"
#include "tuner/search/finalists.h"
#include "tuner/search/problem_tuner.h"
#include "tuner/search/sampling.h"
#include "tuner/search/search_session.h"

namespace tmm {
namespace {

// The run-off's part of a problem's share.
constexpr double kRunOffShare = 0.15;
constexpr int kRunOffAttempts = 5;
// The least time of a run-off in units of the finalists' own times, to record them, sample them once and verify them.
constexpr double kRunOffLaunches = 4;

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

}  // namespace

// The seconds of the problem's share that are kept for the run-off.
double ProblemTuner::kept_for_run_off(const SearchSession& s) const {
    return std::max(kRunOffShare * s.turn.share_seconds, std::min(run_off_seconds_, 0.4 * s.turn.share_seconds));
}

std::vector<std::size_t> ProblemTuner::finalists_of(const SearchSession& s) const {
    // The few that race an old winner all meet it.
    const std::size_t places = s.open.races ? s.candidates.size() : finalist_places(worker_.device().emulated, options_.effort);
    return pick_finalists(s.candidates, s.results, places);
}

void ProblemTuner::hold_run_off(SearchSession& s) {
    // The default config is what an untuned call runs: no other is chosen before it could take part in a run-off.
    if (const auto open = s.given_up.find(0); open != s.given_up.end()) {
        s.failure = fmt::format("the default config could not be measured: {}; run again", open->second);
        return;
    }
    if (!s.results.empty() && s.results.front() && s.results.front()->outcome == Outcome::compile_failed) {
        s.failure = fmt::format("the default config does not compile: {}", s.results.front()->detail);
        return;
    }
    for (int attempt = 0; attempt < kRunOffAttempts; ++attempt) {
        const std::vector<std::size_t> entrants = finalists_of(s);
        if (entrants.empty()) {
            if (s.cut) return;
            std::map<Outcome, int> failed;
            for (const auto& result : s.results)
                if (result) ++failed[result->outcome];
            s.failure = "no candidate passed: " + tally(s.outcomes(), failed);
            return;
        }
        if (entrants.size() == 1) {
            const double median_us = s.results[entrants.front()]->median_us;
            decide(s, {.winner = entrants.front(), .median_us = median_us, .default_us = entrants.front() == 0 ? median_us : 0},
                   "the only candidate that came near");
            return;
        }
        if (try_run_off(s, entrants) || s.interrupted || !s.failure.empty()) return;
        if (s.expired) break;
    }
    decide_alone(s);
}

// Returns false without a decision.
bool ProblemTuner::try_run_off(SearchSession& s, const std::vector<std::size_t>& entrants) {
    RunOffRequest request =
        run_off_request(worker_.device().emulated, options_.effort, std::min(left(s), kept_for_run_off(s) > 0 ? kept_for_run_off(s) : 1e9));
    double expected_us = 0;
    // The default config is not announced: untuned calls run it all the same, so nothing is won by excluding it.
    std::vector<Announcement> announced;
    for (const std::size_t i : entrants) {
        request.configs.push_back(s.candidates[i].config);
        if (i != 0) announced.push_back({.config = request.configs.back(), .kernel_name = s.candidates[i].kernel_name});
        expected_us += std::max(s.results[i]->median_us, request.sample_us) * request.rounds;
    }
    request.orders = orders_of(s.candidates, entrants);
    if (!make_ready(s, entrants)) return false;
    int running = -1;
    const double limit = deadline(s) * static_cast<double>(entrants.size()) + 10 * (expected_us + request.settle_us) * 1e-6;
    WorkerConnection::Answer answer = WorkerConnection::Lost{};
    while (std::holds_alternative<WorkerConnection::Lost>(answer)) {
        if (!prepare(s)) return false;
        const double start = now();
        database_.announce(s.problem(), announced);
        answer = worker_.ask(request, limit, left(s), [&](int index) { running = index; });
        database_.withdraw(s.problem(), announced);
        run_off_seconds_ = now() - start;
    }
    s.interrupted = std::holds_alternative<WorkerConnection::Interrupted>(answer);
    const auto* late = std::get_if<WorkerConnection::TimedOut>(&answer);
    s.expired = late && late->turn_is_over;
    if (s.interrupted || s.expired) return false;
    const auto* died = std::get_if<WorkerConnection::Died>(&answer);
    const auto* reply = std::get_if<Reply>(&answer);
    s.disturbed = (died && died->from_outside) || (reply && std::holds_alternative<NotMeasured>(*reply));
    if (s.disturbed) return false;
    if (died || late) {
        if (running >= 0 && running < static_cast<int>(entrants.size()))
            blame(s, entrants[static_cast<std::size_t>(running)], answer, limit);
        return false;
    }
    const auto* done = std::get_if<RunOffDone>(reply);
    return done != nullptr && done->finalists.size() == entrants.size() && judge(s, entrants, *done);
}

// Returns false where the time is too short, the problem can't go on, or the run is interrupted.
bool ProblemTuner::make_ready(SearchSession& s, const std::vector<std::size_t>& entrants) {
    request_in_order(s, entrants);
    double once_us = 0;
    for (const std::size_t i : entrants) once_us += s.results[i]->median_us;
    s.expired = kRunOffLaunches * once_us * 1e-6 > left(s);
    for (const std::size_t i : entrants) {
        if (s.expired || s.interrupted) return false;
        if (wait_for_kernels(s, i)) continue;
        s.interrupted = interrupt_.requested();
        s.expired = !s.interrupted;
    }
    return !s.expired && !s.interrupted;
}

// The worker died, or came to no end, while this finalist ran.
void ProblemTuner::blame(SearchSession& s, std::size_t index, const WorkerConnection::Answer& answer, double limit) {
    const auto* died = std::get_if<WorkerConnection::Died>(&answer);
    Measurement m = *s.results[index];
    m.outcome = died ? Outcome::crashed : Outcome::timed_out;
    m.detail = "in the run-off: " + (died ? "worker " + died->how : fmt::format("no result within {:.1f} s", limit));
    record(s, index, std::move(m));
}

// Returns false where no finalist passed.
bool ProblemTuner::judge(SearchSession& s, const std::vector<std::size_t>& entrants, const RunOffDone& done) {
    const std::vector<int> orders = orders_of(s.candidates, entrants);
    std::vector<Finalist> finalists;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < entrants.size(); ++i) {
        const RunOffDone::Finalist& seen = done.finalists[i];
        Measurement& known = *s.results[entrants[i]];
        if (seen.outcome != Outcome::ok) {
            Measurement m = known;
            m.outcome = seen.outcome;
            m.detail = "in the run-off: " + seen.detail;
            m.error_ratio = std::max(m.error_ratio, seen.error_ratio);
            record(s, entrants[i], std::move(m));
            continue;
        }
        known.error_ratio = std::max(known.error_ratio, seen.error_ratio);
        finalists.push_back({.config = s.candidates[entrants[i]].config,
                             .order = orders[i],
                             .is_default = entrants[i] == 0,
                             .samples_us = seen.samples_us});
        places.push_back(entrants[i]);
    }
    if (finalists.empty()) return false;
    const RunOffResult result = judge_run_off(finalists);
    Verdict verdict{.winner = places[static_cast<std::size_t>(result.winner)],
                    .median_us = result.median_us,
                    .default_us = result.default_us,
                    .runner_up_us = result.runner_up_us};
    for (std::size_t i = 0; i < finalists.size(); ++i)
        if (s.open.earlier && finalists[i].config == s.open.earlier->config) verdict.old_winner_us = result.medians_us[i];
    if (result.runner_up >= 0) verdict.runner_up = places[static_cast<std::size_t>(result.runner_up)];
    std::size_t rounds = 0;
    for (const Finalist& finalist : finalists) rounds = std::max(rounds, finalist.samples_us.size());
    decide(s, verdict, fmt::format("{} in a run-off of {} over {} rounds", result.verdict, finalists.size(), rounds));
    return true;
}

// The finalists passed every check when each ran by itself, so the best of them is a sound choice without a run-off, too.
void ProblemTuner::decide_alone(SearchSession& s) {
    const std::vector<std::size_t> entrants = finalists_of(s);
    if (entrants.empty()) {
        s.failure = "no candidate survived the run-off";
        return;
    }
    std::size_t winner = entrants.front();
    const double best_us = s.results[winner]->median_us;
    if (s.passed(0) && s.results[0]->median_us <= best_us * (1 + kTie)) winner = 0;
    s.cut = s.cut || s.expired;
    decide(s, {.winner = winner, .median_us = s.results[winner]->median_us},
           s.expired ? "fastest by itself; the budget left no time for a run-off"
                     : fmt::format("fastest by itself; no run-off of {} tries came to its end", kRunOffAttempts));
}

// The text that a reason adds where candidates have no outcome.
std::string ProblemTuner::left_out(const SearchSession& s) const {
    const std::size_t others = s.results.size() + s.open.left_out - static_cast<std::size_t>(s.outcomes()) - s.given_up.size();
    std::string text;
    if (!s.ended.empty()) text += "; " + s.ended;
    if (s.cut) text += fmt::format("; the budget ended before {} others", others);
    if (!s.given_up.empty()) text += fmt::format("; {} could not be measured: {}", s.given_up.size(), s.given_up.begin()->second);
    return text;
}

void ProblemTuner::decide(SearchSession& s, const Verdict& verdict, const std::string& why) {
    std::map<Outcome, int> failed;
    for (const auto& result : s.results)
        if (result && result->outcome != Outcome::ok) ++failed[result->outcome];
    ProblemReport& report = s.report;
    report.config = s.candidates[verdict.winner].config;
    report.median_us = verdict.median_us;
    report.error_ratio = s.results[verdict.winner]->error_ratio;
    report.default_us = verdict.default_us;
    if (verdict.runner_up) report.runner_up = s.candidates[*verdict.runner_up].config;
    report.runner_up_us = verdict.runner_up_us;
    report.old_winner_us = verdict.old_winner_us;
    report.state = s.cut ? ProblemState::cut_short : ProblemState::decided;
    report.reason = fmt::format("{}{}; {}{}{}", s.open.races ? "old winner and first guesses: " : "", why, tally(s.outcomes(), failed),
                                left_out(s), rejected_text(s.open.rejections));
    const std::string_view suffix = s.cut ? kCutSuffix : s.disturbed || !s.given_up.empty() ? kOpenSuffix : "";
    database_.decide(s.problem(), {},
                     {.config = report.config,
                      .median_us = report.median_us,
                      .candidates = s.outcomes(),
                      .reason = report.reason,
                      .search_hash = s.open.search_hash + std::string(suffix),
                      .default_us = report.default_us,
                      .runner_up = report.runner_up,
                      .runner_up_us = report.runner_up_us});
}

}  // namespace tmm
