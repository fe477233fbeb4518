#include "tuner/search/problem_tuner.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/processes/elapsed.h"
#include "base/text/text_table.h"
#include "generator/choice/cost_model.h"
#include "generator/text/text.h"
#include "tuner/search/earlier_decision.h"
#include "tuner/search/search_session.h"
#include "tuner/search/variants.h"

namespace tmm {
namespace {

// The part of the share that is kept for variants of the fastest, before the run-off.
constexpr double kVariantsShare = 0.15;

}  // namespace

ProblemTuner::ProblemTuner(int worker_number, WorkerConnection& worker, CompileQueue& compiler, TuningDatabase& database,
                           Progress& progress, const Interrupt& interrupt, const TuningOptions& options, const Budget& budget)
    : number_(worker_number),
      worker_(worker),
      compiler_(compiler),
      database_(database),
      progress_(progress),
      interrupt_(interrupt),
      options_(options),
      budget_(budget) {}

ProblemReport ProblemTuner::tune(const PendingProblem& problem, int number, const Turn& turn) {
    SearchSession s{.open = problem,
                    .report = ProblemReport{.shape = problem.shape, .rejections = problem.rejections},
                    .number = number,
                    .turn = turn,
                    .begun = now(),
                    .cut = problem.left_out > 0};
    progress_.begin_problem(number_, to_text(problem.shape));
    try {
        find_winner(s);
    } catch (...) {
        // What was measured is kept; of two failures the first is told.
        try {
            save(s);
        } catch (...) {
        }
        throw;
    }
    ProblemReport& report = s.report;
    report.candidates = s.outcomes();
    for (const auto& result : s.results)
        if (result && result->outcome != Outcome::ok) ++report.failed[result->outcome];
    if (s.interrupted) {
        report.state = ProblemState::not_reached;
        report.reason = fmt::format("interrupted after {} of {} candidates", s.outcomes(), s.results.size());
    } else if (!s.failure.empty()) {
        report.state = ProblemState::no_winner;
        report.reason = s.failure;
    } else if (!report.has_winner()) {
        report.reason = fmt::format("the budget ended before a candidate of {} passed", s.results.size());
        progress_.leave_problem(number_);
        return report;
    }
    const std::string result = report.has_winner()
                                   ? fmt::format("{} {} µs{} ({} measured, {}{})", to_text(report.config), short_number(report.median_us),
                                                 report.vs_default() > 0 ? fmt::format(", {:.2f}x the default", report.vs_default()) : "",
                                                 report.measured_now, duration_text(taken(s)), s.ended.empty() ? "" : "; " + s.ended)
                                   : report.reason;
    progress_.end_problem(number_, result);
    return report;
}

void ProblemTuner::find_winner(SearchSession& s) {
    add_candidates(s, s.open.candidates);
    s.may_vary = !worker_.device().emulated && !s.open.races && may_have_variants(s.problem(), s.candidates);
    search(s, s.may_vary ? kVariantsShare : 0);
    if (s.may_vary && !s.interrupted && s.failure.empty() && !is_to_end(s, 0)) measure_variants(s);
    if (!s.interrupted && s.failure.empty()) hold_run_off(s);
}

void ProblemTuner::show_progress(const SearchSession& s) const {
    progress_.update(number_, s.outcomes(), static_cast<int>(s.candidates.size()), s.best_us);
}

double ProblemTuner::deadline(const SearchSession& s) const {
    const double floor = options_.deadline_floor > 0 ? options_.deadline_floor : worker_.device().emulated ? 60 : 10;
    return s.best_wall > 0 ? floor + 10 * s.best_wall : 6 * floor;
}

// The seconds that are left of the problem's turn and of the run, whichever are fewer.
double ProblemTuner::left(const SearchSession& s) const {
    return std::min(budget_.left(), s.turn.most_seconds - seconds_since(s.turn.start));
}

double ProblemTuner::now() const {
    return seconds_since(started_) - worker_.seconds_for_others();
}

double ProblemTuner::taken(const SearchSession& s) const {
    return now() - s.begun;
}

bool ProblemTuner::compiled(const Candidate& candidate) const {
    return std::all_of(candidate.kernels.begin(), candidate.kernels.end(),
                       [this](const PlannedKernel* kernel) { return compiler_.result(kernel->identity).has_value(); });
}

void ProblemTuner::request_kernels(const SearchSession& s, const Candidate& candidate, int rank) const {
    for (const PlannedKernel* kernel : candidate.kernels) compiler_.request(kernel->source, s.number, rank);
}

// Some kernels may have been dropped, with another problem that needs them, too: asked for one by one they would come behind all others.
void ProblemTuner::request_in_order(const SearchSession& s, const std::vector<std::size_t>& indices) const {
    compiler_.drop(s.number);
    for (std::size_t place = 0; place < indices.size(); ++place) request_kernels(s, s.candidates[indices[place]], static_cast<int>(place));
    for (const Candidate& variant : s.expected_variants) request_kernels(s, variant, kRankOfVariants);
}

bool ProblemTuner::wait_for_kernels(const SearchSession& s, std::size_t index) const {
    for (int seen = 0; !compiled(s.candidates[index]); seen = compiler_.wait_for_more(seen, kPoll_s)) {
        if (interrupt_.requested() || left(s) <= 0) return false;
        request_kernels(s, s.candidates[index], 0);
    }
    return true;
}

// Returns true once a living worker holds the problem's operands.
bool ProblemTuner::prepare(SearchSession& s) {
    if (s.prepared && worker_.alive()) return true;
    save(s);
    s.prepared = false;
    // This kernel is compiled here, as all kernels are, so that the worker finds it.
    const KernelSource verify = make_verify_source();
    const KernelIdentity identity = identity_of(verify);
    for (int seen = 0; !compiler_.result(identity); seen = compiler_.wait_for_more(seen, kPoll_s)) {
        compiler_.request(verify, s.number, 0);
        if (!interrupt_.requested() && left(s) > 0) continue;
        s.interrupted = interrupt_.requested();
        s.expired = !s.interrupted;
        return false;
    }
    const PrepareRequest request{.problem = s.problem(), .seed = 1};
    std::string how;
    for (int attempt = 0; attempt < 3; ++attempt) {
        if (interrupt_.requested()) {
            s.interrupted = true;
            return false;
        }
        s.expired = left(s) <= 0 || (!worker_.alive() && budget_.left() <= worker_.start_seconds());
        if (s.expired) return false;
        if (!worker_.alive()) worker_.respawn();
        const WorkerConnection::Answer answer = worker_.ask(request, 5 * deadline(s), left(s));
        const auto* late = std::get_if<WorkerConnection::TimedOut>(&answer);
        s.expired = late && late->turn_is_over;
        if (s.expired) return false;
        if (const auto* reply = std::get_if<Reply>(&answer)) {
            if (const auto* refused = std::get_if<NotPrepared>(reply)) {
                s.failure = refused->detail;
                return false;
            }
            s.prepared = std::holds_alternative<Prepared>(*reply);
            return s.prepared;
        }
        if (std::holds_alternative<WorkerConnection::Interrupted>(answer)) {
            s.interrupted = true;
            return false;
        }
        if (std::holds_alternative<WorkerConnection::Lost>(answer)) {
            --attempt;
            continue;
        }
        const auto* died = std::get_if<WorkerConnection::Died>(&answer);
        how = died ? "worker " + died->how : "passed the deadline";
    }
    s.failure = "operands and reference could not be made: " + how;
    return false;
}

void ProblemTuner::record(SearchSession& s, std::size_t index, Measurement m) {
    keep(s, index, std::move(m));
    save(s);
}

void ProblemTuner::save(SearchSession& s) {
    if (s.unsaved.empty()) return;
    database_.exchange(s.problem(), {}, s.unsaved, {});
    s.unsaved.clear();
}

void ProblemTuner::keep(SearchSession& s, std::size_t index, Measurement m) {
    const Candidate& candidate = s.candidates[index];
    m.kernel_name = candidate.kernel_name;
    m.kernel_hash = candidate.kernel_hash;
    s.unsaved.push_back({.config = candidate.config, .measurement = m});
    if (m.outcome == Outcome::crashed || m.outcome == Outcome::timed_out || m.outcome == Outcome::wrong_result)
        progress_.note(fmt::format("{}: {} {}: {}", to_text(s.problem()), to_text(candidate.config), name_of(m.outcome), m.detail));
    s.results[index] = std::move(m);
    s.given_up.erase(index);
}

// Adds the candidates together with their known measurements.
void ProblemTuner::add_candidates(SearchSession& s, const std::vector<Candidate>& candidates) const {
    for (auto& known : known_measurements(database_, s.problem(), candidates)) {
        // Trying to compile again is cheap.
        const bool is_open = known && (known->outcome == Outcome::compile_failed || is_invalidated(s.problem(), *known));
        if (options_.remeasure || s.open.races || is_open) known.reset();
        s.results.push_back(std::move(known));
    }
    s.candidates.insert(s.candidates.end(), candidates.begin(), candidates.end());
    const CostModel model(s.problem(), worker_.device());
    for (const Candidate& candidate : candidates) s.estimates.push_back(model.estimate(candidate.config));
    s.outside_kills.resize(s.candidates.size());
    for (std::size_t i = s.candidates.size() - candidates.size(); i < s.candidates.size(); ++i)
        if (s.passed(i) && (s.best_us == 0 || s.results[i]->median_us < s.best_us)) s.best_us = s.results[i]->median_us;
    show_progress(s);
}

// The candidate is not to blame, and no record of this is kept for it.
void ProblemTuner::give_up(SearchSession& s, std::size_t index, const std::string& why, bool again) {
    const KernelConfig& config = s.candidates[index].config;
    database_.withdraw(s.problem(), config);
    if (!again) s.given_up[index] = why;
    progress_.note(
        fmt::format("{}: {}; {} {}", to_text(s.problem()), why, to_text(config), again ? "runs again" : "is left to another run"));
}

}  // namespace tmm
