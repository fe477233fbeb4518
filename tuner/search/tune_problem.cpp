#include "tuner/search/tune_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/text/text_table.h"
#include "generator/text/text.h"
#include "tuner/search/choose_candidate.h"
#include "tuner/search/earlier_decision.h"
#include "tuner/search/hold_run_off.h"
#include "tuner/search/measure_candidate.h"
#include "tuner/search/variants.h"

namespace tmm {
namespace {

// The part of the share that is kept for variants of the fastest, before the run-off.
constexpr double kVariantsShare = 0.15;

// Measures candidates until none is left that can be expected to win. Returns how the search ends where it can't go on.
std::optional<Phase> measure_pending(ProblemSearch& s, PendingCandidates& pending, double kept_for_variants) {
    while (!pending.empty()) {
        if (s.context.interrupt.requested()) return Phase::interrupted;
        if (s.is_over(kept_for_variants)) {
            s.cut = true;
            return std::nullopt;
        }
        if (pending.are_enough_known()) return std::nullopt;
        const auto candidate = pending.first_compiled();
        if (!candidate) {
            s.save();
            // A problem that is tuned at the same time may have dropped kernels that both need.
            pending.request_kernels();
            s.wait_for_kernels();
            continue;
        }
        if (const auto end = measure_candidate(s, *candidate)) return end;
        if (!s.is_settled(*candidate)) continue;
        pending.take_out(*candidate);
        s.show_progress();
    }
    return std::nullopt;
}

std::optional<Phase> measure_all(ProblemSearch& s, PendingCandidates pending, double kept_for_variants) {
    if (pending.empty()) return std::nullopt;
    pending.request_kernels_anew();
    const auto end = measure_pending(s, pending, kept_for_variants);
    s.save();
    s.cut = s.cut || end == Phase::out_of_time;
    s.context.compiler.drop(s.number);
    return end;
}

// What was measured until the time was over takes part in the run-off.
Phase after_measuring(const std::optional<Phase>& end, Phase next) {
    return !end ? next : end == Phase::out_of_time ? Phase::run_off : *end;
}

Phase measure_candidates(ProblemSearch& s) {
    const bool may_vary = !s.emulated() && !s.is_rematch && may_have_variants(s.problem(), s.candidates);
    const auto end = measure_all(s, PendingCandidates::of_search(s, may_vary), may_vary ? kVariantsShare : 0);
    // Those that the run goes on to measure are candidates then; a run-off that a budget brings early has no use for the others.
    s.expected_variants = {};
    return after_measuring(end, may_vary && !s.is_over(0) ? Phase::variants : Phase::run_off);
}

Phase measure_variants(ProblemSearch& s) {
    std::vector<std::size_t> pending;
    std::vector<Candidate> added;
    for (const KernelConfig& config : variants_of_fastest(s.problem(), s.candidates, s.results)) {
        const auto is_it = [&](const Candidate& candidate) { return candidate.config == config; };
        const auto known = std::find_if(s.candidates.begin(), s.candidates.end(), is_it);
        if (known != s.candidates.end())
            pending.push_back(static_cast<std::size_t>(known - s.candidates.begin()));
        else
            added.push_back(make_candidate(s.problem(), config, s.context.worker.device(), s.context.variants));
    }
    for (std::size_t i = 0; i < added.size(); ++i) pending.push_back(s.candidates.size() + i);
    s.add(added);
    // An interrupted run may have measured some of them.
    std::erase_if(pending, [&](std::size_t i) { return s.results[i].has_value(); });
    return after_measuring(measure_all(s, PendingCandidates(s, std::move(pending)), 0), Phase::run_off);
}

// What a reason adds where candidates have no outcome.
std::string why_some_are_open(const ProblemSearch& s) {
    std::string text;
    if (!s.ended.empty()) text += "; " + s.ended;
    const std::size_t others = s.results.size() + s.pending.left_out - static_cast<std::size_t>(s.outcomes()) - s.given_up.size();
    if (s.cut) text += fmt::format("; the budget ended before {} others", others);
    if (!s.given_up.empty()) text += fmt::format("; {} could not be measured: {}", s.given_up.size(), s.given_up.begin()->second);
    return text;
}

// Completes the record of the verdict, and writes it into the database.
Phase decide(ProblemSearch& s, RunOffVerdict verdict) {
    TuningDatabase::Decision& decision = verdict.decision;
    decision.candidates = s.outcomes();
    decision.reason = fmt::format("{}{}; {}{}{}", s.is_rematch ? "old winner and first guesses: " : "", decision.reason,
                                  tally(s.outcomes(), s.failed()), why_some_are_open(s), rejected_text(s.pending.rejections));
    const std::string_view suffix = s.cut ? kCutSuffix : verdict.disturbed || !s.given_up.empty() ? kOpenSuffix : "";
    decision.search_hash = s.pending.search_hash + std::string(suffix);
    s.report.state = s.cut ? ProblemState::cut_short : ProblemState::decided;
    s.report.error_ratio = s.results[verdict.winner]->error_ratio;
    s.report.old_winner_us = verdict.old_winner_us;
    s.report.decision = std::move(decision);
    s.context.database.decide(s.problem(), {}, s.report.decision);
    return Phase::decided;
}

Phase race(ProblemSearch& s) {
    auto result = hold_run_off(s);
    return std::holds_alternative<Phase>(result) ? std::get<Phase>(result) : decide(s, std::get<RunOffVerdict>(std::move(result)));
}

// Does what the phase is for, and returns the one that follows.
Phase next_phase(ProblemSearch& s) {
    switch (s.pending.phase) {
        case Phase::rematch:
        case Phase::search: return measure_candidates(s);
        case Phase::variants: return measure_variants(s);
        default: return race(s);
    }
}

// Says how the search has ended.
ProblemReport report_of(ProblemSearch& s) {
    ProblemReport& report = s.report;
    report.decision.candidates = s.outcomes();
    report.failed = s.failed();
    std::string line;
    switch (s.pending.phase) {
        case Phase::out_of_time:
            report.decision.reason = fmt::format("the budget ended before a candidate of {} passed", s.results.size());
            s.context.progress.leave_problem(s.context.number);
            return report;
        case Phase::interrupted:
            report.decision.reason = fmt::format("interrupted after {} of {} candidates", s.outcomes(), s.results.size());
            line = report.decision.reason;
            break;
        case Phase::no_winner:
            report.state = ProblemState::no_winner;
            line = report.decision.reason;
            break;
        default:
            line = fmt::format("{} {} µs{} ({} measured, {}{})", to_text(report.decision.config), short_number(report.decision.median_us),
                               report.vs_default() > 0 ? fmt::format(", {:.2f}x the default", report.vs_default()) : "",
                               report.measured_now, duration_text(s.taken()), s.ended.empty() ? "" : "; " + s.ended);
    }
    s.context.progress.end_problem(s.context.number, line);
    return report;
}

}  // namespace

ProblemReport tune_problem(SearchContext& context, PendingProblem& problem, int number, const Turn& turn) {
    ProblemSearch search(context, problem, number, turn);
    context.progress.begin_problem(context.number, to_text(problem.shape));
    try {
        search.add(problem.candidates);
        while (!is_end(problem.phase)) enter(problem.phase, next_phase(search));
    } catch (...) {
        // What was measured is kept; of two failures the first is told.
        try {
            search.save();
        } catch (...) {
        }
        throw;
    }
    return report_of(search);
}

}  // namespace tmm
