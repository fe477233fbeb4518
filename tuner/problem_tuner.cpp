#include "tuner/problem_tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "db/text_table.h"
#include "generator/error.h"
#include "generator/prediction/cost_model.h"
#include "generator/search/search_space.h"
#include "generator/text/printable.h"
#include "generator/text/text.h"
#include "runtime/selection.h"
#include "tuner/compiled_verdict.h"
#include "tuner/corrected_order.h"
#include "tuner/decision.h"
#include "tuner/elapsed.h"
#include "tuner/finalists.h"
#include "tuner/protocol.h"
#include "tuner/variants.h"
#include "tuner/void_verdict.h"

namespace tmm {
namespace {

// When this many times are known, and whenever their number has grown fourfold, they may change the order of the rest.
constexpr int kFirstLook = 8;
// The run-off's part of a problem's share.
constexpr double kRunOffShare = 0.15;
// The part of the share that is kept for variants of the fastest, before the run-off.
constexpr double kVariantsShare = 0.15;
// First samples slower than this many times the best are not refined.
constexpr double kHopeless = 3;
constexpr int kRunOffAttempts = 5;
// Retries of a candidate whose worker somebody else killed.
constexpr int kOutsideKills = 2;
constexpr double kPoll_s = 0.1;
// The least time of a run-off in units of the finalists' own times, to record them, sample them once and verify them.
constexpr double kRunOffLaunches = 4;

TimingOptions timing_options(bool emulated, Effort effort, double best_us) {
    // The emulation's times say nothing of a GPU's: a few samples will do.
    if (emulated)
        return TimingOptions{.sample_us = 200, .samples = 3, .total_us = 5000, .min_samples = 1, .abandon_above_us = kHopeless * best_us};
    constexpr int kSamples[] = {5, 7, 15};
    return TimingOptions{.sample_us = 1000,
                         .samples = kSamples[static_cast<int>(effort)],
                         .total_us = 30000,
                         .min_samples = 3,
                         .abandon_above_us = kHopeless * best_us};
}

// seconds: the time that the run-off may take.
RunOffRequest run_off_request(bool emulated, Effort effort, double seconds) {
    if (emulated) return RunOffRequest{.configs = {}, .rounds = 9, .min_rounds = 3, .sample_us = 200, .total_us = 200000};
    constexpr int kRounds[] = {30, 40, 100};
    RunOffRequest request{.configs = {},
                          .rounds = kRounds[static_cast<int>(effort)],
                          .min_rounds = 30,
                          .sample_us = 1000,
                          .total_us = 4e6,
                          .settle_us = 200000};
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

}  // namespace

struct ProblemTuner::Session {
    const OpenProblem& open;
    // The candidates of the search, and the variants that are made of the fastest.
    std::vector<Candidate> candidates = {};
    // The candidates' predicted times in µs.
    std::vector<double> estimates = {};
    ProblemReport report;
    std::vector<std::optional<Measurement>> results = {};
    // Number of times that each candidate's worker was ended from outside, and why those that are given up have no outcome: another run may
    // have more luck.
    std::vector<int> outside_kills = {};
    std::map<std::size_t, std::string> given_up = {};
    // Whether a run-off was ended from outside.
    bool disturbed = false;
    int priority = 0;
    Turn turn;
    bool prepared = false;
    bool interrupted = false;
    bool cut = false;
    // Whether the problem's time was over while something ran.
    bool expired = false;
    int next_look = kFirstLook;
    // Says why the problem can't be measured at all.
    std::string failure = {};
    // The best time among the candidates that passed, and the least wall-clock time that one of them took from request to reply.
    double best_us = 0;
    double best_wall = 0;

    const GemmProblem& problem() const { return open.shape.problem; }
    bool passed(std::size_t i) const { return results[i] && results[i]->outcome == Outcome::ok && results[i]->median_us > 0; }
    // Candidates that this run has measured, or given up.
    int tried() const { return report.measured_now + static_cast<int>(given_up.size()); }
    int outcomes() const {
        return static_cast<int>(std::count_if(results.begin(), results.end(), [](const auto& result) { return result.has_value(); }));
    }
};

std::vector<std::optional<Measurement>> known_measurements(TuningDatabase& database, const GemmProblem& problem,
                                                           const std::vector<Candidate>& candidates) {
    std::vector<std::optional<Measurement>> known(candidates.size());
    const std::vector<MeasuredCandidate> rows = database.measurements(problem);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        for (const MeasuredCandidate& row : rows)
            if (row.config == candidates[i].config && row.measurement.kernel_hash == candidates[i].kernel_hash) known[i] = row.measurement;
    }
    return known;
}

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

ProblemReport ProblemTuner::tune(const OpenProblem& problem, int priority, const Turn& turn) {
    Session s{.open = problem,
              .report = ProblemReport{.shape = problem.shape, .rejections = problem.rejections},
              .priority = priority,
              .turn = turn,
              .cut = problem.left_out > 0};
    progress_.begin_problem(number_, to_text(problem.shape));
    add_candidates(s, problem.candidates);

    const bool may_vary = !worker_.device().emulated && !problem.races && may_have_variants(s.problem(), s.candidates);
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < s.results.size(); ++i)
        if (!s.results[i]) missing.push_back(i);
    measure_all(s, std::move(missing), may_vary ? kVariantsShare : 0);
    if (may_vary && !s.interrupted && s.failure.empty() && !is_to_end(s, 0)) measure_variants(s);
    if (!s.interrupted && s.failure.empty()) hold_run_off(s);
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
                                   ? fmt::format("{} {} µs{} ({} measured, {})", to_text(report.config), short_number(report.median_us),
                                                 report.vs_default() > 0 ? fmt::format(", {:.2f}x the default", report.vs_default()) : "",
                                                 report.measured_now, duration_text(seconds_since(s.turn.start)))
                                   : report.reason;
    progress_.end_problem(number_, result);
    return report;
}

void ProblemTuner::show_progress(const Session& s) const {
    progress_.update(number_, s.outcomes(), static_cast<int>(s.candidates.size()), s.best_us);
}

double ProblemTuner::deadline(const Session& s) const {
    const double floor = options_.deadline_floor > 0 ? options_.deadline_floor : worker_.device().emulated ? 60 : 10;
    return s.best_wall > 0 ? floor + 10 * s.best_wall : 6 * floor;
}

// The seconds that are left of the problem's turn and of the run, whichever are fewer.
double ProblemTuner::left(const Session& s) const {
    return std::min(budget_.left(), s.turn.most_seconds - seconds_since(s.turn.start));
}

// The seconds of the problem's share that are kept for the run-off.
double ProblemTuner::kept_for_run_off(const Session& s) const {
    return std::max(kRunOffShare * s.turn.share_seconds, std::min(run_off_seconds_, 0.4 * s.turn.share_seconds));
}

// Once a candidate has passed, the share ends the search; until then only the most time that the problem may take does. kept_for_variants:
// the part of the share that is kept for them.
bool ProblemTuner::is_to_end(const Session& s, double kept_for_variants) const {
    if (s.expired || left(s) <= 0) return true;
    if (s.best_us <= 0) return false;
    const double part = 1 - kept_for_variants;
    if (s.turn.most_candidates > 0 && s.tried() >= part * s.turn.most_candidates) return true;
    return s.turn.share_seconds > 0 && seconds_since(s.turn.start) > part * s.turn.share_seconds - kept_for_run_off(s);
}

bool ProblemTuner::compiled(const Candidate& candidate) const {
    return std::all_of(candidate.kernels.begin(), candidate.kernels.end(),
                       [this](const PlannedKernel* kernel) { return compiler_.result(kernel->identity).has_value(); });
}

void ProblemTuner::request_kernels(const Candidate& candidate, int priority) const {
    for (const PlannedKernel* kernel : candidate.kernels) compiler_.request(kernel->source, priority);
}

// Some kernels may have been dropped, with another problem that needs them, too: asked for one by one they would come behind all others.
void ProblemTuner::request_in_order(const Session& s, const std::vector<std::size_t>& indices) const {
    compiler_.drop(s.priority);
    for (const std::size_t i : indices) request_kernels(s.candidates[i], s.priority);
}

bool ProblemTuner::wait_for_kernels(const Session& s, const Candidate& candidate) const {
    for (int seen = 0; !compiled(candidate); seen = compiler_.wait_for_more(seen, kPoll_s)) {
        if (interrupt_.requested() || left(s) <= 0) return false;
        request_kernels(candidate, s.priority);
    }
    return true;
}

std::optional<Measurement> ProblemTuner::judge_compiled(const Candidate& candidate, bool is_default) const {
    std::vector<CompileQueue::Result> kernels;
    for (const PlannedKernel* kernel : candidate.kernels)
        kernels.push_back(compiler_.result(kernel->identity).value_or(CompileQueue::Result{}));
    return rejection(candidate, kernels, worker_.device(), is_default);
}

// Returns true once a living worker holds the problem's operands.
bool ProblemTuner::prepare(Session& s) {
    if (s.prepared && worker_.alive()) return true;
    s.prepared = false;
    // This kernel is compiled here, as all kernels are, so that the worker finds it.
    const KernelSource verify = make_verify_source();
    const KernelIdentity identity = identity_of(verify);
    for (int seen = 0; !compiler_.result(identity); seen = compiler_.wait_for_more(seen, kPoll_s)) {
        compiler_.request(verify, s.priority);
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
        const auto* died = std::get_if<WorkerConnection::Died>(&answer);
        how = died ? "worker " + died->how : "passed the deadline";
    }
    s.failure = "operands and reference could not be made: " + how;
    return false;
}

void ProblemTuner::record(Session& s, std::size_t index, Measurement m) {
    const Candidate& candidate = s.candidates[index];
    m.kernel_name = candidate.kernel_name;
    m.kernel_hash = candidate.kernel_hash;
    database_.record(s.problem(), candidate.config, {}, m);
    if (m.outcome == Outcome::crashed || m.outcome == Outcome::timed_out || m.outcome == Outcome::wrong_result)
        progress_.note(fmt::format("{}: {} {}: {}", to_text(s.problem()), to_text(candidate.config), name_of(m.outcome), m.detail));
    s.results[index] = std::move(m);
    s.given_up.erase(index);
}

// Adds the candidates together with their known measurements.
void ProblemTuner::add_candidates(Session& s, const std::vector<Candidate>& candidates) const {
    for (auto& known : known_measurements(database_, s.problem(), candidates)) {
        // Trying to compile again is cheap.
        const bool is_open = known && (known->outcome == Outcome::compile_failed || is_void(s.problem(), *known));
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

// missing: candidates without a result.
void ProblemTuner::measure_all(Session& s, std::vector<std::size_t> missing, double kept_for_variants) {
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

void ProblemTuner::measure_variants(Session& s) {
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
bool ProblemTuner::measure(Session& s, std::size_t index) {
    if (!prepare(s)) return false;
    const KernelConfig& config = s.candidates[index].config;
    database_.announce(s.problem(), config, s.candidates[index].kernel_name);
    const auto start = SteadyClock::now();
    const double limit = deadline(s);
    const MeasureRequest request{.config = config, .timing = timing_options(worker_.device().emulated, options_.effort, s.best_us)};
    const WorkerConnection::Answer answer = worker_.ask(request, limit, left(s));
    Measurement m;
    m.shared_bytes = s.candidates[index].shared_bytes;
    m.workspace_bytes = s.candidates[index].workspace_bytes;
    if (std::holds_alternative<WorkerConnection::Interrupted>(answer)) {
        database_.withdraw(s.problem(), config);
        s.interrupted = true;
        return false;
    }
    if (const auto* late = std::get_if<WorkerConnection::TimedOut>(&answer)) {
        if (late->turn_is_over) {
            // The candidate is not to blame.
            database_.withdraw(s.problem(), config);
            s.expired = true;
            return true;
        }
        m.outcome = Outcome::timed_out;
        m.detail = fmt::format("no result within {:.1f} s", limit);
    } else if (const auto* died = std::get_if<WorkerConnection::Died>(&answer)) {
        if (died->from_outside) {
            const bool again = ++s.outside_kills[index] <= kOutsideKills;
            give_up(s, index, fmt::format("the worker {}, from outside", died->how), again);
            return true;
        }
        m.outcome = Outcome::crashed;
        m.detail = "worker " + died->how;
    } else {
        const Reply& reply = std::get<Reply>(answer);
        if (const auto* measured = std::get_if<Measured>(&reply)) {
            m = measured->measurement;
            if (m.throttled) progress_.note_once(fmt::format("{}: {}", printable(worker_.device().name), throttling_warning()));
        } else if (const auto* lacking = std::get_if<NotMeasured>(&reply)) {
            give_up(s, index, lacking->detail, false);
            return true;
        } else {
            m.outcome = Outcome::crashed;
            m.detail = "the worker answered something else";
        }
    }
    if (m.outcome == Outcome::ok) {
        const double wall = seconds_since(start);
        if (s.best_us == 0 || m.median_us < s.best_us) s.best_us = m.median_us;
        if (s.best_wall == 0 || wall < s.best_wall) s.best_wall = wall;
    }
    record(s, index, std::move(m));
    return true;
}

// The candidate is not to blame, and no record of this is kept for it.
void ProblemTuner::give_up(Session& s, std::size_t index, const std::string& why, bool again) {
    const KernelConfig& config = s.candidates[index].config;
    database_.withdraw(s.problem(), config);
    if (!again) s.given_up[index] = why;
    progress_.note(
        fmt::format("{}: {}; {} {}", to_text(s.problem()), why, to_text(config), again ? "runs again" : "is left to another run"));
}

// The text that a reason adds where candidates have no outcome.
std::string ProblemTuner::left_out(const Session& s) const {
    const std::size_t others = s.results.size() + s.open.left_out - static_cast<std::size_t>(s.outcomes()) - s.given_up.size();
    std::string text;
    if (s.cut) text += fmt::format("; the budget ended before {} others", others);
    if (!s.given_up.empty()) text += fmt::format("; {} could not be measured: {}", s.given_up.size(), s.given_up.begin()->second);
    return text;
}

void ProblemTuner::decide(Session& s, const Verdict& verdict, const std::string& why) {
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

std::vector<std::size_t> ProblemTuner::finalists_of(const Session& s) const {
    return pick_finalists(s.candidates, s.results, finalist_places(worker_.device().emulated, options_.effort));
}

void ProblemTuner::hold_run_off(Session& s) {
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
bool ProblemTuner::try_run_off(Session& s, const std::vector<std::size_t>& entrants) {
    RunOffRequest request =
        run_off_request(worker_.device().emulated, options_.effort, std::min(left(s), kept_for_run_off(s) > 0 ? kept_for_run_off(s) : 1e9));
    double expected_us = 0;
    double once_us = 0;
    // The default config is not announced: untuned calls run it all the same, so nothing is won by excluding it.
    std::vector<Announcement> announced;
    request_in_order(s, entrants);
    for (const std::size_t i : entrants) {
        request.configs.push_back(s.candidates[i].config);
        if (i != 0) announced.push_back({.config = request.configs.back(), .kernel_name = s.candidates[i].kernel_name});
        expected_us += std::max(s.results[i]->median_us, request.sample_us) * request.rounds;
        once_us += s.results[i]->median_us;
    }
    s.expired = kRunOffLaunches * once_us * 1e-6 > left(s);
    for (const std::size_t i : entrants) {
        if (s.expired || s.interrupted) return false;
        if (wait_for_kernels(s, s.candidates[i])) continue;
        s.interrupted = interrupt_.requested();
        s.expired = !s.interrupted;
    }
    if (!prepare(s)) return false;
    int running = -1;
    const double limit = deadline(s) * static_cast<double>(entrants.size()) + 10 * (expected_us + request.settle_us) * 1e-6;
    const auto start = SteadyClock::now();
    database_.announce(s.problem(), announced);
    const WorkerConnection::Answer answer = worker_.ask(request, limit, left(s), [&](int index) { running = index; });
    database_.withdraw(s.problem(), announced);
    run_off_seconds_ = seconds_since(start);
    s.interrupted = std::holds_alternative<WorkerConnection::Interrupted>(answer);
    const auto* late = std::get_if<WorkerConnection::TimedOut>(&answer);
    s.expired = late && late->turn_is_over;
    if (s.interrupted || s.expired) return false;
    const auto* died = std::get_if<WorkerConnection::Died>(&answer);
    const auto* reply = std::get_if<Reply>(&answer);
    s.disturbed = (died && died->from_outside) || (reply && std::holds_alternative<NotMeasured>(*reply));
    if (s.disturbed) return false;
    if (died || late) {
        if (running < 0 || running >= static_cast<int>(entrants.size())) return false;
        Measurement m = *s.results[entrants[static_cast<std::size_t>(running)]];
        m.outcome = died ? Outcome::crashed : Outcome::timed_out;
        m.detail = "in the run-off: " + (died ? "worker " + died->how : fmt::format("no result within {:.1f} s", limit));
        record(s, entrants[static_cast<std::size_t>(running)], std::move(m));
        return false;
    }
    const auto* done = std::get_if<RunOffDone>(reply);
    return done != nullptr && done->finalists.size() == entrants.size() && judge(s, entrants, *done);
}

// Returns false where no finalist passed.
bool ProblemTuner::judge(Session& s, const std::vector<std::size_t>& entrants, const RunOffDone& done) {
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
                             .order = static_cast<int>(entrants[i]),
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
    if (result.runner_up >= 0) verdict.runner_up = places[static_cast<std::size_t>(result.runner_up)];
    decide(s, verdict,
           fmt::format("{} in a run-off of {} over {} rounds", result.verdict, finalists.size(), finalists.front().samples_us.size()));
    return true;
}

// The finalists passed every check when each ran by itself, so the best of them is a sound choice without a run-off, too.
void ProblemTuner::decide_alone(Session& s) {
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

}  // namespace tmm
