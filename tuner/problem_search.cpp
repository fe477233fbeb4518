// How a problem's candidates are measured, one by one.
#include <fmt/format.h>

#include <algorithm>

#include "generator/text/printable.h"
#include "tuner/compiled_verdict.h"
#include "tuner/corrected_order.h"
#include "tuner/elapsed.h"
#include "tuner/problem_tuner.h"
#include "tuner/sampling.h"
#include "tuner/search_session.h"
#include "tuner/variants.h"

namespace tmm {
namespace {

// Retries of a candidate whose worker somebody else killed.
constexpr int kOutsideKills = 2;

}  // namespace

// Once a candidate has passed, the share ends the search; until then only the most time that the problem may take does. kept_for_variants:
// the part of the share that is kept for them.
bool ProblemTuner::is_to_end(const SearchSession& s, double kept_for_variants) const {
    if (s.expired || left(s) <= 0) return true;
    if (s.best_us <= 0) return false;
    const double part = 1 - kept_for_variants;
    if (s.turn.most_candidates > 0 && s.tried() >= part * s.turn.most_candidates) return true;
    return s.turn.share_seconds > 0 && seconds_since(s.turn.start) > part * s.turn.share_seconds - kept_for_run_off(s);
}

std::optional<Measurement> ProblemTuner::judge_compiled(const Candidate& candidate, bool is_default) const {
    std::vector<CompileQueue::Result> kernels;
    for (const PlannedKernel* kernel : candidate.kernels)
        kernels.push_back(compiler_.result(kernel->identity).value_or(CompileQueue::Result{}));
    return rejection(candidate, kernels, worker_.device(), is_default);
}

// missing: candidates without a result.
void ProblemTuner::measure_all(SearchSession& s, std::vector<std::size_t> missing, double kept_for_variants) {
    if (missing.empty()) return;
    request_in_order(s, missing);
    int seen = 0;
    while (!missing.empty()) {
        if (interrupt_.requested()) {
            s.interrupted = true;
            break;
        }
        if (is_to_end(s, kept_for_variants)) {
            s.cut = true;
            break;
        }
        const auto ready = std::find_if(missing.begin(), missing.end(), [&](std::size_t i) { return compiled(s.candidates[i]); });
        if (ready == missing.end()) {
            // The kernels are requested each time: a problem that is tuned at the same time may have dropped kernels that both need.
            for (const std::size_t i : missing) request_kernels(s.candidates[i], s.priority);
            seen = compiler_.wait_for_more(seen, kPoll_s);
            continue;
        }
        const std::size_t index = *ready;
        if (auto judged = judge_compiled(s.candidates[index], index == 0)) {
            record(s, index, *std::move(judged));
        } else if (!measure(s, index)) {
            break;
        }
        if (!s.results[index] && s.given_up.count(index) == 0) continue;
        if (s.results[index]) ++s.report.measured_now;
        missing.erase(ready);
        show_progress(s);
        if (s.outcomes() < s.next_look) continue;
        s.next_look = 4 * s.outcomes();
        if (correct_order(missing, s.candidates, s.estimates, s.results)) request_in_order(s, missing);
    }
    s.cut = s.cut || s.expired;
    compiler_.drop(s.priority);
}

void ProblemTuner::measure_variants(SearchSession& s) {
    std::vector<std::size_t> missing;
    std::vector<Candidate> added;
    for (const KernelConfig& config : variants_of_fastest(s.problem(), s.candidates, s.results)) {
        const auto known =
            std::find_if(s.candidates.begin(), s.candidates.end(), [&](const Candidate& candidate) { return candidate.config == config; });
        if (known != s.candidates.end())
            missing.push_back(static_cast<std::size_t>(known - s.candidates.begin()));
        else
            added.push_back(make_candidate(s.problem(), config, worker_.device(), variants_));
    }
    for (std::size_t i = 0; i < added.size(); ++i) missing.push_back(s.candidates.size() + i);
    add_candidates(s, added);
    measure_all(s, std::move(missing), 0);
}

// Returns false where the problem can't go on. A candidate without an outcome is to be tried again.
bool ProblemTuner::measure(SearchSession& s, std::size_t index) {
    if (!prepare(s)) return false;
    const KernelConfig& config = s.candidates[index].config;
    database_.announce(s.problem(), config, s.candidates[index].kernel_name);
    const auto start = SteadyClock::now();
    const double limit = deadline(s);
    const MeasureRequest request{.config = config, .timing = timing_options(worker_.device().emulated, options_.effort, s.best_us)};
    std::optional<Measurement> m = outcome_of(s, index, worker_.ask(request, limit, left(s)), limit);
    if (!m) return !s.interrupted;
    if (m->outcome == Outcome::ok) {
        const double wall = seconds_since(start);
        if (s.best_us == 0 || m->median_us < s.best_us) s.best_us = m->median_us;
        if (s.best_wall == 0 || wall < s.best_wall) s.best_wall = wall;
    }
    record(s, index, *std::move(m));
    return true;
}

// Nothing where the candidate has no outcome, for reasons that are not its own.
std::optional<Measurement> ProblemTuner::outcome_of(SearchSession& s, std::size_t index, const WorkerConnection::Answer& answer,
                                                    double limit) {
    Measurement m;
    m.shared_bytes = s.candidates[index].shared_bytes;
    m.workspace_bytes = s.candidates[index].workspace_bytes;
    if (std::holds_alternative<WorkerConnection::Interrupted>(answer)) {
        database_.withdraw(s.problem(), s.candidates[index].config);
        s.interrupted = true;
        return std::nullopt;
    }
    if (const auto* late = std::get_if<WorkerConnection::TimedOut>(&answer)) {
        s.expired = late->turn_is_over;
        m.outcome = Outcome::timed_out;
        m.detail = fmt::format("no result within {:.1f} s", limit);
        if (!s.expired) return m;
        // The candidate is not to blame.
        database_.withdraw(s.problem(), s.candidates[index].config);
        return std::nullopt;
    }
    if (const auto* died = std::get_if<WorkerConnection::Died>(&answer)) {
        m.outcome = Outcome::crashed;
        m.detail = "worker " + died->how;
        if (!died->from_outside) return m;
        const bool again = ++s.outside_kills[index] <= kOutsideKills;
        give_up(s, index, fmt::format("the worker {}, from outside", died->how), again);
        return std::nullopt;
    }
    const Reply& reply = std::get<Reply>(answer);
    if (const auto* lacking = std::get_if<NotMeasured>(&reply)) {
        give_up(s, index, lacking->detail, false);
        return std::nullopt;
    }
    const auto* measured = std::get_if<Measured>(&reply);
    if (measured == nullptr) {
        m.outcome = Outcome::crashed;
        m.detail = "the worker answered something else";
        return m;
    }
    if (measured->measurement.throttled) progress_.note_once(fmt::format("{}: {}", printable(worker_.device().name), throttling_warning()));
    return measured->measurement;
}

}  // namespace tmm
