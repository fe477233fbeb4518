#include "tuner/tuning_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "db/staleness.h"
#include "generator/prediction/predicted_config.h"
#include "generator/text/environment.h"
#include "generator/text/printable.h"
#include "generator/text/side_by_side.h"
#include "generator/text/text.h"
#include "generator/validity/validity.h"
#include "tuner/budget.h"
#include "tuner/candidate_compiler.h"
#include "tuner/certainty.h"
#include "tuner/device_profile.h"
#include "tuner/measured_order.h"
#include "tuner/predictions.h"
#include "tuner/problem_tuner.h"
#include "tuner/remembered.h"
#include "tuner/search_compiler.h"
#include "tuner/void_verdict.h"
#include "tuner/worker_process.h"

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
    // The problems without a decision come first, then those whose decision may count.
    std::vector<OpenProblem> open;
    std::size_t undecided = 0;
    // The next open problem that nobody has taken.
    std::size_t next = 0;
    // The problems whose turn ended before any candidate passed. They are tuned again in the time that is left.
    std::vector<std::size_t> again;
    DeviceReport report;

    // Turns that are left, for a budget; a problem whose decision may count rarely needs one.
    double turns_left() const {
        const auto decided = static_cast<double>(open.size() - std::max(next, undecided));
        return static_cast<double>(undecided - std::min(next, undecided) + again.size()) + decided / 20;
    }
};

// The problems that the compiler has before their turn; a short turn is over before a kernel is compiled.
constexpr std::size_t kAhead = 1;
constexpr std::size_t kAheadWithinBudget = 4;
// This many of a problem's kernels are compiled before the rest of the previous problem's.
constexpr std::size_t kFirstKernels = 4;
// Guesses that race an old winner, the default among them, and how much faster than it another must be to be looked behind: the problem is
// then searched like a new one.
constexpr std::size_t kGuessesInRace = 5;
constexpr double kUpset = 0.03;

std::vector<MeasuredCandidate> measured_before(const GemmProblem& problem, TuningDatabase& database) {
    for (const GemmProblem& alike : problems_alike(problem)) {
        std::vector<MeasuredCandidate> rows = database.measurements(alike);
        if (!rows.empty()) return rows;
    }
    return {};
}

// Where a quick search finds that its problem was measured before, with kernels of an earlier text, say, the candidates are those that were
// the fastest instead of those that are predicted to be.
std::vector<Candidate> fastest_before(std::vector<Candidate> predicted, const GemmProblem& problem, Group& group,
                                      TuningDatabase& database) {
    const std::vector<MeasuredCandidate> rows = measured_before(problem, database);
    if (rows.empty()) return predicted;
    const DeviceInfo& device = group.environment.device;
    std::vector<Candidate> all = make_candidates(problem, Effort::normal, device, group.book, kAllCandidates);
    if (device.overlaps_kernels()) {
        for (std::size_t i = 0, count = all.size(); i < count; ++i) {
            all.push_back(all[i]);
            all.back().config.overlap = 1 - all[i].config.overlap;
        }
    }
    std::vector<Candidate> fastest = fastest_measured(predicted, all, rows);
    number(fastest);
    return fastest;
}

// The configs that won for the problem, and for the same problem with the other 16-bit type: they won in run-offs, whose order times taken
// one by one may not show.
std::vector<KernelConfig> winners_before(const GemmProblem& problem, TuningDatabase& database) {
    std::vector<KernelConfig> winners;
    for (const GemmProblem& alike : problems_alike(problem))
        if (const auto decision = database.decision(alike)) winners.push_back(decision->config);
    return winners;
}

// Takes what an earlier decision says into the report. candidates: those among which the rejected ones are counted.
void take_earlier(TuningDatabase& database, const OpenProblem& problem, std::vector<Candidate> candidates, Group& group,
                  ProblemReport& report) {
    const TuningDatabase::Decision& decision = *problem.earlier;
    report.state = ProblemState::decided_before;
    report.cut_before = decision.search_hash.ends_with(kCutSuffix);
    report.config = decision.config;
    report.median_us = decision.median_us;
    report.default_us = decision.default_us;
    report.runner_up = decision.runner_up;
    report.runner_up_us = decision.runner_up_us;
    report.candidates = decision.candidates;
    report.rejections = problem.rejections;
    report.reason = decision.reason;
    // The winner may be a variant that the search did not have.
    candidates.push_back(make_candidate(problem.shape.problem, decision.config, group.environment.device, group.book));
    const auto known = known_measurements(database, problem.shape.problem, candidates);
    for (const auto& measured : known)
        if (measured && measured->outcome != Outcome::ok) ++report.failed[measured->outcome];
    if (known.back()) report.error_ratio = known.back()->error_ratio;
}

// Whether a decision was made without knowing the default config, the first one, or from results that say nothing.
bool rests_on_nothing(const GemmProblem& problem, const std::vector<std::optional<Measurement>>& known) {
    if (!known.empty() && known.front() && known.front()->outcome == Outcome::compile_failed) return true;
    return std::any_of(known.begin(), known.end(), [&](const auto& result) { return result && is_void(problem, *result); });
}

// Whether the earlier decision is one of today's candidates. The problem has those of today's effort.
bool counts_today(TuningDatabase& database, const OpenProblem& problem, const TuningOptions& options, Group& group) {
    if (rests_on_nothing(problem.shape.problem, known_measurements(database, problem.shape.problem, problem.candidates))) return false;
    const std::string& hash = problem.earlier->search_hash;
    const auto effort = effort_of(hash);
    if (*effort == options.effort) return hash == problem.search_hash;
    return hash ==
           search_hash(*effort, make_candidates(problem.shape.problem, *effort, group.environment.device, group.book, kAllCandidates));
}

// An earlier decision that was measured, and is valid: anything may stand in a database.
std::optional<TuningDatabase::Decision> earlier_decision(TuningDatabase& database, const GemmProblem& problem, const DeviceInfo& device) {
    auto decision = database.decision(problem);
    return decision && !decision->predicted && !why_invalid(problem, decision->config, device) ? decision : std::nullopt;
}

// Whether this run need not look behind the decision: it is this database's own, made with as much effort, and by no budget where there is
// none today.
bool suffices(const TuningDatabase::Decision& decision, const TuningOptions& options) {
    const bool cut = decision.search_hash.ends_with(kCutSuffix);
    const auto effort = effort_of(decision.search_hash);
    if (decision.search_hash.ends_with(kOpenSuffix)) return false;
    return !options.remeasure && decision.origin == "user" && (!cut || options.budget_seconds > 0) && effort && *effort >= options.effort;
}

// Leaves the candidates that race: the default, which is the first, the old winner and its runner-up, and the next guesses.
void keep_racers(std::vector<Candidate>& candidates, const TuningDatabase::Decision& earlier) {
    std::size_t guesses = 0;
    const auto is_out = [&](const Candidate& candidate) {
        if (candidate.config == earlier.config || candidate.config == earlier.runner_up) return false;
        return guesses++ >= kGuessesInRace;
    };
    candidates.erase(std::remove_if(candidates.begin(), candidates.end(), is_out), candidates.end());
}

// The candidates of a problem whose turn is near.
void make_ready(OpenProblem& problem, const Turn& turn, const TuningOptions& options, Group& group, TuningDatabase& database) {
    if (!problem.candidates.empty()) return;
    const GemmProblem& asked = problem.shape.problem;
    const std::size_t most = most_candidates(turn);
    Remainder remainder;
    problem.candidates = make_candidates(asked, options.effort, group.environment.device, group.book, most, &remainder);
    problem.left_out = remainder.left_out;
    problem.rejections = std::move(remainder.rejections);
    // It names what is predicted: what a search has measured does not open its own decision anew.
    problem.search_hash = search_hash(options.effort, problem.candidates);
    if (options.effort == Effort::quick && most == kAllCandidates)
        problem.candidates = fastest_before(std::move(problem.candidates), asked, group, database);
    if (!problem.races) {
        const std::vector<KernelConfig> remembered =
            remembered_configs(problem.shape.problem, winners_before(problem.shape.problem, database),
                               database.measurements(problem.shape.problem), group.environment.device);
        problem.known_fast = put_first(remembered, problem.candidates, problem.shape.problem, group.environment.device, group.book);
        return;
    }
    const TuningDatabase::Decision& earlier = *problem.earlier;
    for (const KernelConfig& config : {earlier.config, earlier.runner_up.value_or(earlier.config)}) {
        const auto is_same = [&](const Candidate& candidate) { return candidate.config == config; };
        if (std::none_of(problem.candidates.begin(), problem.candidates.end(), is_same) &&
            !why_invalid(problem.shape.problem, config, group.environment.device))
            problem.candidates.push_back(make_candidate(problem.shape.problem, config, group.environment.device, group.book));
    }
    keep_racers(problem.candidates, earlier);
}

// A candidate that was running when the machine went down is not run again. Where only its tuner died, somebody killed that.
void quarantine(TuningDatabase& database, Group& group, Progress& progress) {
    for (const UnfinishedRun& run : database.unfinished_runs()) {
        const DeviceInfo& device = group.environment.device;
        if (!run.machine_restarted || why_invalid(run.problem, run.config, device)) {
            database.withdraw(run.problem, run.config);
            continue;
        }
        const Candidate candidate = make_candidate(run.problem, run.config, device, group.book);
        Measurement m;
        m.outcome = Outcome::crashed;
        m.detail = "quarantined: the machine went down while it ran";
        m.kernel_name = candidate.kernel_name;
        m.kernel_hash = candidate.kernel_hash;
        database.record(run.problem, run.config, {}, m);
        progress.note(fmt::format("{}: {} {}", to_text(run.problem), to_text(run.config), m.detail));
    }
}

// Fills in the report where an earlier decision counts as it is; otherwise adds a problem that is open, or whose decision may count.
void look_at(const Shape& shape, const TuningOptions& options, TuningDatabase& database, Group& group, ProblemReport& report) {
    report.reason = why_unserved(shape.problem, group.environment.device);
    if (!report.reason.empty()) {
        report.state = ProblemState::no_winner;
        return;
    }
    OpenProblem problem{.shape = shape,
                        .place = group.report.problems.size(),
                        .earlier = earlier_decision(database, shape.problem, group.environment.device)};
    if (problem.earlier && suffices(*problem.earlier, options)) {
        problem.races = staleness(shape.problem, *problem.earlier, group.environment, database, group.book).any();
        problem.may_count = !problem.races;
    }
    // Another budget would leave out as many.
    if (problem.may_count && problem.earlier->search_hash.ends_with(kCutSuffix))
        take_earlier(database, problem, {}, group, report);
    else
        group.open.push_back(std::move(problem));
}

// Finds out which problems are open. Candidates are made when the problem's turn comes: that takes time, and those of thousands of problems
// would fill the memory.
void survey(const std::vector<Shape>& shapes, const TuningOptions& options, TuningDatabase& database, const Interrupt& interrupt,
            Group& group) {
    for (const Shape& shape : shapes) {
        ProblemReport report{.shape = shape};
        if (!interrupt.requested()) look_at(shape, options, database, group, report);
        group.report.problems.push_back(std::move(report));
    }
    const auto decided =
        std::stable_partition(group.open.begin(), group.open.end(), [](const OpenProblem& problem) { return !problem.may_count; });
    group.undecided = static_cast<std::size_t>(decided - group.open.begin());
}

// The first kernels go before the rest of the previous problem's.
void request_kernels(CandidateCompiler& compiler, const OpenProblem& problem, TuningDatabase& database, const TuningOptions& options,
                     int priority) {
    const auto known = known_measurements(database, problem.shape.problem, problem.candidates);
    for (std::size_t i = 0; i < known.size(); ++i) {
        if (known[i] && !options.remeasure && !problem.races) continue;
        const bool first = i < kFirstKernels;
        if (!first && options.budget_seconds > 0) return;
        for (const PlannedKernel* kernel : problem.candidates[i].kernels) compiler.request(kernel->source, first ? priority - 3 : priority);
    }
}

// Ctrl-C ends waiting for the database, too.
Patience patience_with(const Interrupt& interrupt) {
    return {.stop = [&interrupt] { return interrupt.requested(); }};
}

// The loop of one worker over its group's problems.
class GroupWork {
public:
    GroupWork(Group& group, WorkerProcess& worker, int number, const TuningOptions& options, const Budget& budget, Progress& progress,
              const Interrupt& interrupt, std::mutex& mutex)
        : group_(group),
          worker_(worker),
          number_(number),
          options_(options),
          budget_(budget),
          progress_(progress),
          interrupt_(interrupt),
          mutex_(mutex),
          database_(options.database, TuningDatabase::Mode::read_write, patience_with(interrupt)),
          ahead_database_(options.database, TuningDatabase::Mode::read_write, patience_with(interrupt)) {
        database_.set_environment(group.environment);
        ahead_database_.set_environment(group.environment);
    }
    ~GroupWork() {
        if (ahead_) ahead_->join();
    }
    GroupWork(const GroupWork&) = delete;
    GroupWork& operator=(const GroupWork&) = delete;

    void run(const std::atomic<bool>& stop) {
        std::optional<ProblemTuner> tuner;
        while (!stop && !interrupt_.requested() && !budget_.is_over()) {
            if (!worker_.alive()) {
                // No problem's turn is shortened by what another problem's candidate has done.
                if (budget_.left() <= worker_.start_seconds()) return;
                worker_.respawn();
            }
            Turn turn;
            const auto mine = take(turn);
            if (!mine) return;
            OpenProblem& problem = group_.open[*mine];
            if (problem.may_count && report_earlier(problem)) continue;
            if (!tuner) tuner.emplace(number_, worker_, *group_.compiler, database_, progress_, interrupt_, options_, budget_);
            ProblemReport report = tuner->tune(problem, priority_of(*mine), turn);
            if (problem.races && is_upset(report, *problem.earlier)) {
                search_anew(problem, turn);
                report = tuner->tune(problem, priority_of(*mine), turn);
            }
            std::lock_guard lock(mutex_);
            problem.candidates = {};
            if (report.state == ProblemState::not_reached && !interrupt_.requested()) group_.again.push_back(*mine);
            group_.report.problems[problem.place] = std::move(report);
        }
    }

private:
    static int priority_of(std::size_t index) { return 2 * static_cast<int>(index); }

    // Whether the old winner lost its race, so that more may have changed than its time.
    static bool is_upset(const ProblemReport& report, const TuningDatabase::Decision& earlier) {
        if (report.state != ProblemState::decided || report.config == earlier.config) return false;
        const bool is_second = report.runner_up && *report.runner_up == earlier.config;
        return !is_second || report.runner_up_us > (1 + kUpset) * report.median_us;
    }

    void search_anew(OpenProblem& problem, const Turn& turn) {
        std::lock_guard lock(mutex_);
        progress_.add_problem();
        problem.races = false;
        problem.candidates = {};
        make_ready(problem, turn, options_, group_, database_);
    }

    // Takes the next problem, with its candidates and the time that it may take. The problems that come after it are made ready while it is
    // measured.
    std::optional<std::size_t> take(Turn& turn) {
        end_looking_ahead();
        std::lock_guard lock(mutex_);
        // The workers of a group process the remaining problems at the same time.
        const auto workers = static_cast<double>(group_.workers.size());
        const DeviceInfo& device = group_.environment.device;
        turn = budget_.turn(group_.turns_left() / workers, device.emulated ? 0.2 : 1);
        std::size_t mine = group_.next;
        if (mine < group_.open.size()) {
            ++group_.next;
        } else if (!group_.again.empty()) {
            mine = group_.again.front();
            group_.again.erase(group_.again.begin());
        } else {
            return std::nullopt;
        }
        OpenProblem& problem = group_.open[mine];
        // An earlier decision is compared with all candidates.
        make_ready(problem, problem.may_count ? Turn{} : turn, options_, group_, database_);
        if (!problem.may_count) start_compiler();
        const std::size_t ahead = group_.workers.size() * (budget_.is_limited() ? kAheadWithinBudget : kAhead);
        const std::size_t first = group_.next;
        const std::size_t end = std::min(first + ahead, group_.undecided);
        if (first >= end) return mine;
        // Where there is no thread left a problem is made ready when its turn comes.
        ahead_ = start_thread([this, first, end, turn] { look_ahead(first, end, turn); });
        return mine;
    }

    // Making candidates takes a good part of a second on a busy machine, in which the device would have nothing to do.
    void look_ahead(std::size_t first, std::size_t end, const Turn& turn) {
        try {
            for (std::size_t i = first; i < end && !interrupt_.requested(); ++i) {
                std::lock_guard lock(mutex_);
                if (!group_.open[i].candidates.empty()) continue;
                make_ready(group_.open[i], turn, options_, group_, ahead_database_);
                // A problem requests the kernels that it lacks when its turn comes.
                request_kernels(*group_.compiler, group_.open[i], ahead_database_, options_, priority_of(i));
            }
        } catch (...) {
            ahead_failure_ = std::current_exception();
        }
    }

    void end_looking_ahead() {
        if (ahead_) ahead_->join();
        ahead_.reset();
        if (ahead_failure_) std::rethrow_exception(std::exchange(ahead_failure_, nullptr));
    }

    void start_compiler() {
        if (group_.compiler) return;
        const SearchCompiler search = make_search_compiler(group_.environment.device);
        group_.compiler = std::make_unique<CandidateCompiler>(search.compiler, KernelCache(default_cache_directory()), search.threads);
        group_.compiler->request(make_verify_source(), -4);
    }

    // Returns true where the earlier decision counts.
    bool report_earlier(OpenProblem& problem) {
        std::lock_guard lock(mutex_);
        const bool counts = counts_today(database_, problem, options_, group_);
        if (counts) {
            take_earlier(database_, problem, std::move(problem.candidates), group_, group_.report.problems[problem.place]);
            problem.candidates = {};
        } else {
            problem.may_count = false;
            start_compiler();
            progress_.add_problem();
        }
        return counts;
    }

    Group& group_;
    WorkerProcess& worker_;
    int number_;
    const TuningOptions& options_;
    const Budget& budget_;
    Progress& progress_;
    const Interrupt& interrupt_;
    std::mutex& mutex_;
    TuningDatabase database_;
    // What the thread that looks ahead has for itself, and what it failed by.
    TuningDatabase ahead_database_;
    std::optional<std::thread> ahead_;
    std::exception_ptr ahead_failure_;
};

// The seconds of a budget that are kept for the time after the last measurement: predictions for all problems that may be left, and the end
// of processes.
double seconds_to_end(double budget_seconds, const std::vector<std::unique_ptr<Group>>& groups, std::size_t undecided) {
    const auto group = std::find_if(groups.begin(), groups.end(), [](const auto& g) { return g->undecided > 0; });
    if (group == groups.end()) return 0;
    const auto start = SteadyClock::now();
    default_config((*group)->open.front().shape.problem, (*group)->environment.device);
    return 0.02 * budget_seconds + seconds_to_predict(undecided, seconds_since(start));
}

// A search ends with its effort's seconds on a GPU, and where no budget gives each problem a time of its own.
Pace pace_of(const TuningOptions& options, const std::vector<std::unique_ptr<Group>>& groups) {
    const auto is_emulated = [](const auto& group) { return group->environment.device.emulated; };
    if (options.budget_seconds > 0 || std::all_of(groups.begin(), groups.end(), is_emulated))
        return {.budget_seconds = options.budget_seconds};
    const Certainty certainty = certainty_of(options.effort);
    return {.problem_seconds = certainty.seconds, .least_results = certainty.least_results};
}

// Where the budget ended before a problem's turn, an earlier winner stays; where there is none, the model's guess is taken.
void finish_unreached(const TuningOptions& options, const Interrupt& interrupt, Group& group) {
    TuningDatabase database(options.database, TuningDatabase::Mode::read_write, patience_with(interrupt));
    database.set_environment(group.environment);
    std::vector<ProblemReport*> unreached;
    for (const OpenProblem& problem : group.open) {
        ProblemReport& report = group.report.problems[problem.place];
        if (report.state != ProblemState::not_reached) continue;
        if (problem.earlier)
            take_earlier(database, problem, {}, group, report);
        else
            unreached.push_back(&report);
    }
    predict(unreached, group.environment, database);
}

// A signal that interrupts a run, a hangup above all, may also end compilers and workers that are just being started.
bool may_be_by_signal(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const Error& error) {
        return error.status() == ExitStatus::no_compiler || error.status() == ExitStatus::no_device;
    } catch (...) {
        return false;
    }
}

}  // namespace

double ProblemReport::tflops() const {
    return has_winner() && median_us > 0 ? flops(shape.problem) / median_us * 1e-6 : 0;
}

double ProblemReport::vs_default() const {
    return has_winner() && median_us > 0 ? default_us / median_us : 0;
}

std::optional<double> RunReport::busy() const {
    double busy = 0;
    int workers = 0;
    for (const DeviceReport& device : devices) {
        if (device.device.emulated) continue;
        busy += device.busy_seconds;
        workers += device.workers;
    }
    if (workers == 0 || seconds <= 0) return std::nullopt;
    return std::min(busy / (workers * seconds), 1.0);
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
    std::vector<std::unique_ptr<Group>> groups;
    for (const int ordinal : options.ordinals) {
        auto worker = std::make_unique<WorkerProcess>(ordinal, interrupt);
        const DeviceInfo& device = worker->device();
        if (const std::string warning = warning_of(worker->sharing()); !warning.empty())
            progress.note_once(fmt::format("GPU {}, {}: {}", ordinal, printable(device.name), warning));
        auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return same_model(g->environment.device, device); });
        if (group == groups.end()) {
            groups.push_back(std::make_unique<Group>());
            group = groups.end() - 1;
            (*group)->environment = {.device = device, .nvrtc_version = device.emulated ? 0 : nvrtc_version()};
        }
        (*group)->workers.push_back(std::move(worker));
    }
    Budget budget(options.budget_seconds, options.start);
    std::size_t undecided = 0;
    for (auto& group : groups) {
        TuningDatabase database(options.database, TuningDatabase::Mode::read_write_create, patience_with(interrupt));
        database.set_environment(group->environment);
        quarantine(database, *group, progress);
        group->report.rates = find_profile(
            group->environment.device, {.remeasure = options.remeasure, .budget_seconds = options.budget_seconds}, database,
            [&] { return ask_for_rates(*group->workers.front()); }, [&](const std::string& line) { progress.note(line); });
        group->report.device = group->environment.device;
        const std::vector<Shape> listed = with_sample_sizes(shapes, group->environment.device);
        survey(shapes_of(options.shard, listed), options, database, interrupt, *group);
        undecided += group->undecided;
    }
    if (budget.is_limited()) budget.keep(seconds_to_end(options.budget_seconds, groups, undecided));
    progress.start(static_cast<int>(undecided), pace_of(options, groups));

    std::mutex mutex;
    std::exception_ptr failure;
    std::atomic<bool> stop = false;
    std::vector<std::function<void()>> jobs;
    int number = 0;
    for (auto& group : groups) {
        for (auto& worker : group->workers) {
            if (group->open.empty()) continue;
            jobs.emplace_back([&, &group = *group, &worker = *worker, number = number++] {
                try {
                    GroupWork(group, worker, number, options, budget, progress, interrupt, mutex).run(stop);
                } catch (...) {
                    std::lock_guard lock(mutex);
                    if (!failure) failure = std::current_exception();
                    stop = true;
                }
            });
        }
    }
    run_side_by_side(jobs);
    progress.finish();
    if (failure && !(interrupt.requested() && may_be_by_signal(failure))) std::rethrow_exception(failure);
    bool ended = true;
    for (auto& group : groups) {
        if (group->compiler) ended = group->compiler->abandon() && ended;
        if (budget.is_limited() && !interrupt.requested()) finish_unreached(options, interrupt, *group);
    }

    RunReport report;
    report.interrupted = interrupt.requested();
    report.seconds = seconds_since(options.start);
    for (auto& group : groups) {
        for (const auto& worker : group->workers) group->report.busy_seconds += worker->busy_seconds();
        group->report.workers = static_cast<int>(group->workers.size());
        report.devices.push_back(std::move(group->report));
    }
    if (!ended) report.still_running = std::make_shared<std::vector<std::unique_ptr<Group>>>(std::move(groups));
    return report;
}

}  // namespace tmm
