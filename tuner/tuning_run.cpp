#include "tuner/tuning_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "generator/environment.h"
#include "generator/text.h"
#include "tuner/elapsed.h"
#include "tuner/measured_order.h"
#include "tuner/problem_tuner.h"
#include "tuner/remembered.h"

namespace tmm {
namespace {

bool same_model(const DeviceInfo& a, const DeviceInfo& b) {
    return a.name == b.name && a.compute_capability() == b.compute_capability() && a.sm_count == b.sm_count;
}

// GPUs of one model: they share rows of the database, so they share the work.
struct Group {
    Environment environment;
    std::vector<std::unique_ptr<WorkerProcess>> workers;
    KernelBook book;
    std::unique_ptr<CandidateCompiler> compiler;
    std::vector<OpenProblem> open;
    // Place of each open problem among the report's.
    std::vector<std::size_t> places;
    // The next open problem that nobody has taken.
    std::size_t next = 0;
    DeviceReport report;
};

std::vector<Candidate> make_candidates(const GemmProblem& problem, Effort effort, Group& group) {
    std::vector<Candidate> candidates;
    for (const KernelConfig& config : search_space(problem, group.environment.device, effort).candidates)
        candidates.push_back(make_candidate(problem, config, group.environment.device, group.book));
    return candidates;
}

std::vector<MeasuredCandidate> measured_before(const GemmProblem& problem, TuningDatabase& database) {
    for (const GemmProblem& alike : problems_alike(problem)) {
        std::vector<MeasuredCandidate> rows = database.measurements(alike);
        if (!rows.empty()) return rows;
    }
    return {};
}

// The same, but where a quick search finds that its problem was measured before, with kernels of an earlier text, say, it takes those
// that were the fastest instead of those that are predicted to be.
std::vector<Candidate> make_candidates(const GemmProblem& problem, Effort effort, Group& group, TuningDatabase& database) {
    std::vector<Candidate> predicted = make_candidates(problem, effort, group);
    if (effort != Effort::quick) return predicted;
    const std::vector<MeasuredCandidate> rows = measured_before(problem, database);
    if (rows.empty()) return predicted;
    std::vector<Candidate> all = make_candidates(problem, Effort::normal, group);
    if (group.environment.device.overlaps_kernels()) {
        for (std::size_t i = 0, count = all.size(); i < count; ++i) {
            all.push_back(all[i]);
            all.back().config.overlap = 1 - all[i].config.overlap;
        }
    }
    return fastest_measured(predicted, all, rows);
}

// What won for the problem, and for that with the other type of 16 bits: in run-offs, whose order times taken one by one may not show.
std::vector<KernelConfig> winners_before(const GemmProblem& problem, TuningDatabase& database) {
    std::vector<KernelConfig> winners;
    for (const GemmProblem& alike : problems_alike(problem))
        if (const auto decision = database.decision(alike)) winners.push_back(decision->config);
    return winners;
}

// The search's candidates; behind the first of them, which is the default, those that are known to be fast: what a search offers changes
// with tmm, a budget may end it early, and a winner must not be lost by that.
std::vector<Candidate> candidates_and_remembered(const GemmProblem& problem, Effort effort, Group& group, TuningDatabase& database) {
    std::vector<Candidate> candidates = make_candidates(problem, effort, group, database);
    if (candidates.empty()) return candidates;
    const DeviceInfo& device = group.environment.device;
    auto next = candidates.begin() + 1;
    const std::vector<KernelConfig> winners = winners_before(problem, database);
    for (const KernelConfig& config : remembered_configs(problem, winners, database.measurements(problem), device)) {
        if (config == candidates.front().config) continue;
        const auto place = std::find_if(next, candidates.end(), [&](const Candidate& candidate) { return candidate.config == config; });
        if (place == candidates.end())
            next = candidates.insert(next, make_candidate(problem, config, device, group.book));
        else
            std::rotate(next, place, place + 1);
        ++next;
    }
    return candidates;
}

// Takes what an earlier decision says into the report; false where the problem is still open.
bool decided_before(TuningDatabase& database, const OpenProblem& problem, const TuningOptions& options, Group& group,
                    ProblemReport& report) {
    const auto decision = database.decision(problem.shape.problem);
    if (!decision) return false;
    std::string hash = decision->search_hash;
    report.cut_before = hash.ends_with(kCutSuffix);
    if (report.cut_before) {
        hash.resize(hash.size() - kCutSuffix.size());
        // Without a budget the run asks for what the earlier one left out.
        if (options.budget_seconds <= 0) return false;
    }
    const auto effort = effort_of(hash);
    if (!effort || *effort < options.effort) return false;
    std::string today = problem.search_hash;
    if (*effort != options.effort) today = search_hash(*effort, make_candidates(problem.shape.problem, *effort, group, database));
    if (hash != today) return false;

    report.state = ProblemState::decided_before;
    report.config = decision->config;
    report.median_us = decision->median_us;
    report.candidates = decision->candidates;
    report.reason = decision->reason;
    // The winner may be a variant that the search did not have.
    std::vector<Candidate> candidates = problem.candidates;
    candidates.push_back(make_candidate(problem.shape.problem, decision->config, group.environment.device, group.book));
    const auto known = known_measurements(database, problem.shape.problem, candidates);
    for (const auto& measured : known)
        if (measured && measured->outcome != Outcome::ok) ++report.rejected[measured->outcome];
    if (known.back()) report.error_ratio = known.back()->error_ratio;
    // The run-off, in pairs, found the winner no slower than the default; each by itself may look otherwise.
    if (known.front() && known.front()->outcome == Outcome::ok && decision->median_us > 0)
        report.speed_up_over_default =
            candidates.front().config == decision->config ? 1 : std::max(known.front()->median_us / decision->median_us, 1.0);
    return true;
}

// A candidate that was running when the machine went down, or twice when its tuner died, is not run again. One that has a result
// was in a run-off beside others: only the machine's fall is held against it.
void quarantine(TuningDatabase& database, Group& group, Progress& progress) {
    for (const UnfinishedRun& run : database.unfinished_runs()) {
        const DeviceInfo& device = group.environment.device;
        if (why_invalid(run.problem, run.config, device)) {
            database.withdraw(run.problem, run.config);
            continue;
        }
        const Candidate candidate = make_candidate(run.problem, run.config, device, group.book);
        if (!run.machine_restarted && known_measurements(database, run.problem, {candidate}).front()) {
            database.withdraw(run.problem, run.config);
            continue;
        }
        if (!run.machine_restarted && run.attempts < 2) continue;
        Measurement m;
        m.outcome = Outcome::crashed;
        m.detail = run.machine_restarted ? "quarantined: the machine went down while it ran"
                                         : fmt::format("quarantined: announced {} times without a result", run.attempts);
        m.kernel_name = candidate.kernel_name;
        m.kernel_hash = candidate.kernel_hash;
        database.record(run.problem, run.config, {}, m);
        progress.note(fmt::format("{}: {} {}", to_text(run.problem), to_text(run.config), m.detail));
    }
}

// Which problems are open. Their candidates are made again when their turn comes: those of thousands would fill the memory.
void survey(const std::vector<Shape>& shapes, const TuningOptions& options, TuningDatabase& database, const Interrupt& interrupt,
            Group& group) {
    for (const Shape& shape : shapes) {
        ProblemReport report{.shape = shape};
        if (interrupt.requested()) {
            group.report.problems.push_back(std::move(report));
            continue;
        }
        report.reason = why_unserved(shape.problem, group.environment.device);
        if (!report.reason.empty()) {
            report.state = ProblemState::no_winner;
            group.report.problems.push_back(std::move(report));
            continue;
        }
        OpenProblem problem{.shape = shape, .candidates = make_candidates(shape.problem, options.effort, group, database)};
        problem.search_hash = search_hash(options.effort, problem.candidates);
        if (options.remeasure || !decided_before(database, problem, options, group, report)) {
            group.places.push_back(group.report.problems.size());
            problem.candidates = {};
            group.open.push_back(std::move(problem));
        }
        group.report.problems.push_back(std::move(report));
    }
}

void request_kernels(CandidateCompiler& compiler, const OpenProblem& problem, TuningDatabase& database, bool remeasure, int priority) {
    const auto known = known_measurements(database, problem.shape.problem, problem.candidates);
    for (std::size_t i = 0; i < known.size(); ++i) {
        if (known[i] && !remeasure) continue;
        for (const PlannedKernel* kernel : problem.candidates[i].kernels) compiler.request(kernel->source, priority);
    }
}

}  // namespace

double ProblemReport::tflops() const {
    return has_winner() && median_us > 0 ? flops(shape.problem) / median_us * 1e-6 : 0;
}

int RunReport::measured_now() const {
    int measured = 0;
    for (const DeviceReport& device : devices)
        for (const ProblemReport& problem : device.problems) measured += problem.measured_now;
    return measured;
}

ExitStatus RunReport::status() const {
    if (interrupted) return ExitStatus::interrupted;
    for (const DeviceReport& device : devices)
        for (const ProblemReport& problem : device.problems)
            if (!problem.has_winner()) return ExitStatus::no_winner;
    return ExitStatus::done;
}

RunReport run_tuning(const std::vector<Shape>& shapes, const TuningOptions& options, Progress& progress, const Interrupt& interrupt) {
    const auto start = SteadyClock::now();
    std::vector<std::unique_ptr<Group>> groups;
    for (const int ordinal : options.ordinals) {
        auto worker = std::make_unique<WorkerProcess>(ordinal, interrupt);
        const DeviceInfo& device = worker->device();
        auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return same_model(g->environment.device, device); });
        if (group == groups.end()) {
            groups.push_back(std::make_unique<Group>());
            group = groups.end() - 1;
            (*group)->environment = {.device = device, .nvrtc_version = device.emulated ? 0 : nvrtc_version()};
            (*group)->report.device = device;
        }
        (*group)->workers.push_back(std::move(worker));
    }
    std::size_t open = 0;
    for (auto& group : groups) {
        TuningDatabase database(options.database, TuningDatabase::Mode::read_write_create);
        database.set_environment(group->environment);
        quarantine(database, *group, progress);
        survey(shapes, options, database, interrupt, *group);
        open += group->open.size();
        if (!group->open.empty()) {
            group->compiler =
                std::make_unique<CandidateCompiler>(make_compiler(group->environment.device), KernelCache(default_cache_directory()));
            group->compiler->request(make_verify_source(), -1);
        }
    }
    progress.start(static_cast<int>(open), options.budget_seconds);

    std::mutex mutex;
    std::exception_ptr failure;
    std::atomic<bool> stop = false;
    const auto work = [&](Group& group, WorkerProcess& worker, int number) {
        try {
            TuningDatabase database(options.database, TuningDatabase::Mode::read_write);
            database.set_environment(group.environment);
            ProblemTuner tuner(number, worker, *group.compiler, database, progress, interrupt, options);
            while (!stop && !interrupt.requested()) {
                std::size_t mine = 0;
                std::size_t left = 0;
                {
                    std::lock_guard lock(mutex);
                    if (group.next == group.open.size()) return;
                    mine = group.next++;
                    left = group.open.size() - mine;
                    for (const std::size_t i : {mine, mine + group.workers.size()}) {
                        if (i >= group.open.size()) continue;
                        OpenProblem& problem = group.open[i];
                        if (problem.candidates.empty())
                            problem.candidates = candidates_and_remembered(problem.shape.problem, options.effort, group, database);
                        // What it lacks when its turn comes a problem asks for itself.
                        if (i != mine) request_kernels(*group.compiler, problem, database, options.remeasure, static_cast<int>(i));
                    }
                }
                double share = 0;
                if (options.budget_seconds > 0) {
                    // The workers of a group go through what is left side by side.
                    const double rounds = static_cast<double>(left) / static_cast<double>(group.workers.size());
                    share = std::max((options.budget_seconds - seconds_since(start)) / std::max(rounds, 1.0), 0.01);
                }
                ProblemReport report = tuner.tune(group.open[mine], static_cast<int>(mine), share);
                std::lock_guard lock(mutex);
                group.report.problems[group.places[mine]] = std::move(report);
                group.open[mine].candidates = {};
            }
        } catch (...) {
            std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
            stop = true;
        }
    };
    std::vector<std::thread> threads;
    int number = 0;
    for (auto& group : groups)
        for (auto& worker : group->workers)
            if (!group->open.empty())
                threads.emplace_back([&work, &group = *group, &worker = *worker, number = number++] { work(group, worker, number); });
    for (std::thread& thread : threads) thread.join();
    progress.finish();
    if (failure) std::rethrow_exception(failure);

    RunReport report;
    report.interrupted = interrupt.requested();
    report.seconds = seconds_since(start);
    for (auto& group : groups) report.devices.push_back(std::move(group->report));
    return report;
}

}  // namespace tmm
