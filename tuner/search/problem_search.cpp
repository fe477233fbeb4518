// How a problem's candidates are measured, one by one.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/processes/elapsed.h"
#include "base/text/printable.h"
#include "tuner/search/compiled_code_checks.h"
#include "tuner/search/problem_tuner.h"
#include "tuner/search/sampling.h"
#include "tuner/search/search_session.h"
#include "tuner/search/variants.h"

namespace tmm {
namespace {

// Retries of a candidate whose worker somebody else killed.
constexpr int kOutsideKills = 2;
// So many of the first candidates are measured in the order of the search, whatever the model makes of their times.
constexpr int kFirstInOrder = 4;
// Results after which kernels are compiled in the order that they have led to.
constexpr int kResultsPerRequest = 8;

// Those that are measured whatever the model makes of their times: the default, what is known to be fast, and the first of the search.
bool is_first(const SearchSession& s, std::size_t i) {
    return i <= s.open.known_fast || s.candidates[i].order < kFirstInOrder;
}

// The order in which candidates are measured.
void arrange(const SearchSession& s, std::vector<std::size_t>& missing, const CorrectedModel& model) {
    std::vector<std::pair<double, std::size_t>> order;
    for (const std::size_t i : missing) order.emplace_back(is_first(s, i) ? 0 : model.lower_confidence_bound(i), i);
    std::sort(order.begin(), order.end());
    std::transform(order.begin(), order.end(), missing.begin(), [](const auto& entry) { return entry.second; });
}

}  // namespace

// Once a candidate has passed and the default was tried, the share ends the search; until then only the most time that the problem may take
// does. kept_for_variants: the part of the share that is kept for them.
bool ProblemTuner::is_to_end(const SearchSession& s, double kept_for_variants) const {
    if (s.expired || left(s) <= 0) return true;
    if (s.best_us <= 0 || s.default_is_open()) return false;
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

// Measures the candidates that have no result, until the rest can't be expected to win.
void ProblemTuner::search(SearchSession& s, double kept_for_variants) {
    std::vector<KernelConfig> configs;
    for (const Candidate& candidate : s.candidates) configs.push_back(candidate.config);
    CorrectedModel model(std::move(configs), s.estimates);
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < s.results.size(); ++i) {
        if (!s.results[i]) missing.push_back(i);
        if (s.passed(i)) model.observe(i, s.results[i]->median_us);
    }
    arrange(s, missing, model);
    measure_all(s, std::move(missing), kept_for_variants, &model);
    // Those that the run goes on to measure are candidates then; a run-off that a budget brings early has no use for the others.
    s.expected_variants = {};
}

// The emulated device's times are those of a machine that does other work too, and its searches are short. Where other sizes are judged by
// what is measured for this one, it is not the winner alone that counts.
bool ProblemTuner::is_certain(SearchSession& s, const CorrectedModel& model, const std::vector<std::size_t>& missing) const {
    const Certainty certainty = certainty_of(options_.effort);
    if (worker_.device().emulated || s.open.shape.is_sample_size || model.observations() < certainty.least_observations) return false;
    double chance = 0;
    for (const std::size_t i : missing) chance += model.chance_below(i, s.best_us * (1 - certainty.margin));
    if (chance >= certainty.chance) return false;
    s.ended = fmt::format("the chance that one of {} others is faster by more than {:g}% is below {:g}%", missing.size(),
                          100 * certainty.margin, 100 * certainty.chance);
    return true;
}

// A budget gives each problem a time of its own.
bool ProblemTuner::is_out_of_time(SearchSession& s, std::size_t missing) const {
    const Certainty certainty = certainty_of(options_.effort);
    if (worker_.device().emulated || budget_.is_limited() || certainty.seconds <= 0) return false;
    if (s.best_us <= 0 || s.outcomes() < least_results(certainty, s.open.shape.is_sample_size)) return false;
    if (taken(s) < kSearchPart * certainty.seconds) return false;
    s.ended = fmt::format("the {:g} s of effort {} ended before {} others", certainty.seconds, name_of(options_.effort), missing);
    return true;
}

// missing: candidates without a result, in the order in which they are measured; the model, where there is one, changes it.
void ProblemTuner::measure_all(SearchSession& s, std::vector<std::size_t> missing, double kept_for_variants, CorrectedModel* model) {
    if (missing.empty()) return;
    request_in_order(s, missing);
    int seen = 0;
    int next_request = s.outcomes() + kResultsPerRequest;
    while (!missing.empty()) {
        if (interrupt_.requested()) {
            s.interrupted = true;
            break;
        }
        if (is_to_end(s, kept_for_variants)) {
            s.cut = true;
            break;
        }
        const bool may_end = model && !is_first(s, missing.front());
        if (may_end && (is_certain(s, *model, missing) || is_out_of_time(s, missing.size()))) break;
        const auto ready = std::find_if(missing.begin(), missing.end(), [&](std::size_t i) { return compiled(s.candidates[i]); });
        if (ready == missing.end()) {
            save(s);
            // The kernels are requested each time: a problem that is tuned at the same time may have dropped kernels that both need.
            for (std::size_t place = 0; place < missing.size(); ++place)
                request_kernels(s, s.candidates[missing[place]], static_cast<int>(place));
            seen = compiler_.wait_for_more(seen, kPoll_s);
            continue;
        }
        const std::size_t index = *ready;
        if (!look_at(s, index)) break;
        if (!s.results[index] && s.given_up.count(index) == 0) continue;
        missing.erase(ready);
        show_progress(s);
        if (!model || !s.passed(index)) continue;
        model->observe(index, s.results[index]->median_us);
        arrange(s, missing, *model);
        expect_variants(s);
        if (s.outcomes() < next_request) continue;
        next_request = s.outcomes() + kResultsPerRequest;
        request_in_order(s, missing);
    }
    save(s);
    s.cut = s.cut || s.expired;
    compiler_.drop(s.number);
}

// Returns false where the problem can't go on.
bool ProblemTuner::look_at(SearchSession& s, std::size_t index) {
    if (auto judged = judge_compiled(s.candidates[index], index == 0))
        keep(s, index, *std::move(judged));
    else if (!measure(s, index))
        return false;
    if (s.results[index]) ++s.report.measured_now;
    return true;
}

// What comes behind the search is compiled during it: the device would wait for each kernel's whole compilation.
void ProblemTuner::expect_variants(SearchSession& s) {
    if (!s.may_vary) return;
    for (const KernelConfig& config : variants_of_fastest(s.problem(), s.candidates, s.results)) {
        const auto is_it = [&](const Candidate& candidate) { return candidate.config == config; };
        if (std::any_of(s.expected_variants.begin(), s.expected_variants.end(), is_it)) continue;
        s.expected_variants.push_back(make_candidate(s.problem(), config, worker_.device(), variants_));
        request_kernels(s, s.expected_variants.back(), kRankOfVariants);
    }
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
    // An interrupted run may have measured some of them.
    std::erase_if(missing, [&](std::size_t i) { return s.results[i].has_value(); });
    measure_all(s, std::move(missing), 0, nullptr);
}

// Returns false where the problem can't go on. A candidate without an outcome is to be tried again.
bool ProblemTuner::measure(SearchSession& s, std::size_t index) {
    if (!prepare(s)) return false;
    const KernelConfig& config = s.candidates[index].config;
    database_.exchange(s.problem(), {}, s.unsaved, {{.config = config, .kernel_name = s.candidates[index].kernel_name}});
    s.unsaved.clear();
    const double start = now();
    const double limit = deadline(s);
    const MeasureRequest request{.config = config, .timing = timing_options(worker_.device().emulated, options_.effort, s.results)};
    std::optional<Measurement> m = outcome_of(s, index, worker_.ask(request, limit, left(s)), limit);
    if (!m) return !s.interrupted;
    if (m->outcome == Outcome::ok) {
        const double wall = now() - start;
        if (s.best_us == 0 || m->median_us < s.best_us) s.best_us = m->median_us;
        if (s.best_wall == 0 || wall < s.best_wall) s.best_wall = wall;
    }
    keep(s, index, *std::move(m));
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
    if (std::holds_alternative<WorkerConnection::Lost>(answer)) {
        database_.withdraw(s.problem(), s.candidates[index].config);
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
