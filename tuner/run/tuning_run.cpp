#include "tuner/run/tuning_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "base/text/environment.h"
#include "base/text/printable.h"
#include "base/text/side_by_side.h"
#include "db/store/staleness.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/validity.h"
#include "generator/machine/device_info.h"
#include "generator/text/text.h"
#include "tuner/options/tuning_options.h"
#include "tuner/run/device_profile.h"
#include "tuner/run/group_work.h"
#include "tuner/search/earlier_decision.h"
#include "tuner/search/sampling.h"
#include "tuner/worker/shared_worker.h"
#include "tuner/worker/worker_process.h"

namespace tmm {
namespace {

using Groups = std::vector<std::unique_ptr<DeviceGroup>>;

// Problems that are searched at the same time on a GPU: one waits for kernels, or for the database, while another is measured.
constexpr int kSearchesOfWorker = 2;

// A candidate that was running when the machine went down is not run again. Where only its tuner died, somebody killed that. What another
// host announced is left to it.
void quarantine(TuningDatabase& database, DeviceGroup& group, Progress& progress) {
    for (const UnfinishedRun& run : database.unfinished_runs()) {
        if (run.is_elsewhere) continue;
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

// Fills in the report where an earlier decision counts as it is; otherwise adds a pending one, or whose decision may count.
void look_at(const Shape& shape, const TuningOptions& options, TuningDatabase& database, DeviceGroup& group, ProblemReport& report) {
    report.decision.reason = why_unserved(shape.problem, group.environment.device);
    if (!report.decision.reason.empty()) {
        report.state = ProblemState::no_winner;
        return;
    }
    PendingProblem problem{.shape = shape,
                           .place = group.report.problems.size(),
                           .earlier = earlier_decision(database, shape.problem, group.environment.device)};
    if (problem.earlier && suffices(*problem.earlier, options)) {
        const bool is_stale = staleness(shape.problem, *problem.earlier, group.environment, database, group.book).any();
        problem.phase = is_stale ? Phase::rematch : Phase::recall;
    }
    // Another budget would leave out as many.
    if (problem.phase == Phase::recall && problem.earlier->search_hash.ends_with(kCutSuffix))
        take_earlier(database, problem, {}, group.environment.device, group.book, report);
    else
        group.pending.push_back(std::move(problem));
}

// Finds out which problems are pending. Candidates are made when the problem's turn comes: that takes time, and those of thousands of
// problems would fill the memory.
void survey(const std::vector<Shape>& shapes, const TuningOptions& options, TuningDatabase& database, const Interrupt& interrupt,
            DeviceGroup& group) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        if (interrupt.requested()) {
            group.report.not_looked_at = shapes.size() - i;
            break;
        }
        ProblemReport report{.shape = shapes[i]};
        look_at(shapes[i], options, database, group, report);
        group.report.problems.push_back(std::move(report));
    }
    const auto decided = std::stable_partition(group.pending.begin(), group.pending.end(),
                                               [](const PendingProblem& problem) { return problem.phase != Phase::recall; });
    group.undecided = static_cast<std::size_t>(decided - group.pending.begin());
}

// Seconds that a decision and its row take.
constexpr double kSecondsToStore = 0.0005;

std::size_t thread_count() {
    return std::max(std::thread::hardware_concurrency(), 1u);
}

// Seconds that predict() takes for so many problems, where one prediction takes seconds_each.
double seconds_to_predict(std::size_t problems, double seconds_each) {
    return static_cast<double>(problems) * (seconds_each / static_cast<double>(thread_count()) + kSecondsToStore);
}

// Problems that a budget did not reach get the config that the model takes to be the fastest, marked as such: in the reports, and in the
// database where nothing measured is known of them.
void predict(const std::vector<ProblemReport*>& unreached, const DeviceInfo& device, TuningDatabase& database) {
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < unreached.size(); i = next++)
            unreached[i]->decision.config = default_config(unreached[i]->shape.problem, device);
    };
    run_side_by_side(std::min(thread_count(), unreached.size()), work);

    std::vector<std::pair<GemmProblem, TuningDatabase::Decision>> decisions;
    for (ProblemReport* report : unreached) {
        const GemmProblem& problem = report->shape.problem;
        report->state = ProblemState::predicted;
        const std::string why = report->decision.reason.empty() ? "the budget ended before its turn" : report->decision.reason;
        report->decision = {.config = report->decision.config, .reason = "predicted, not measured: " + why, .predicted = true};
        const auto known = database.decision(problem);
        if (known && (!known->predicted || known->config == report->decision.config)) continue;
        decisions.emplace_back(problem, report->decision);
    }
    database.decide(decisions, {});
}

// The seconds of a budget that are kept for the time after the last measurement: predictions for all problems that may be left, and the end
// of processes.
double seconds_to_end(double budget_seconds, const Groups& groups, std::size_t undecided) {
    const auto group = std::find_if(groups.begin(), groups.end(), [](const auto& g) { return g->undecided > 0; });
    if (group == groups.end()) return 0;
    const auto start = SteadyClock::now();
    default_config((*group)->pending.front().shape.problem, (*group)->environment.device);
    return 0.02 * budget_seconds + seconds_to_predict(undecided, seconds_since(start));
}

// A search ends with its effort's seconds on a GPU, and where no budget gives each problem a time of its own.
Pace pace_of(const TuningOptions& options, const Groups& groups) {
    const auto is_emulated = [](const auto& group) { return group->environment.device.emulated; };
    if (options.budget_seconds > 0 || std::all_of(groups.begin(), groups.end(), is_emulated))
        return {.budget_seconds = options.budget_seconds};
    const Certainty certainty = certainty_of(options.effort);
    return {.problem_seconds = kSearchesOfWorker * certainty.seconds, .least_results = certainty.least_results};
}

// The emulated device is the cores that would also make the next problem ready. A budget's shares are meant for one problem after another.
int searches_of_worker(const DeviceInfo& device, const Budget& budget) {
    return device.emulated || budget.is_limited() ? 1 : kSearchesOfWorker;
}

// Where the budget ended before a problem's turn, an earlier winner stays; where there is none, the model's guess is taken.
void finish_unreached(const TuningOptions& options, const Interrupt& interrupt, DeviceGroup& group) {
    TuningDatabase database(options.database, TuningDatabase::Mode::read_write, patience_with(interrupt));
    database.set_environment(group.environment);
    std::vector<ProblemReport*> unreached;
    for (const PendingProblem& problem : group.pending) {
        ProblemReport& report = group.report.problems[problem.place];
        if (report.state != ProblemState::not_reached) continue;
        if (problem.earlier)
            take_earlier(database, problem, {}, group.environment.device, group.book, report);
        else
            unreached.push_back(&report);
    }
    predict(unreached, group.environment.device, database);
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

// Starts a worker for each device. Those of one model make a group.
Groups open_devices(const TuningOptions& options, Progress& progress, const Interrupt& interrupt) {
    Groups groups;
    for (const int ordinal : options.ordinals) {
        auto worker = std::make_unique<WorkerProcess>(ordinal, interrupt);
        const DeviceInfo& device = worker->device();
        if (const std::string warning = warning_of(worker->sharing()); !warning.empty())
            progress.note_once(fmt::format("GPU {}, {}: {}", ordinal, printable(device.name), warning));
        auto group =
            std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return model_of(g->environment.device) == model_of(device); });
        if (group == groups.end()) {
            groups.push_back(std::make_unique<DeviceGroup>());
            group = groups.end() - 1;
            (*group)->environment = {.device = device, .nvrtc_version = device.emulated ? 0 : nvrtc_version()};
        }
        (*group)->workers.push_back(std::move(worker));
    }
    return groups;
}

// Finds out what the group's device can do, and which of the problems are pending on it.
void look_at_all(const std::vector<Shape>& shapes, const TuningOptions& options, Progress& progress, const Interrupt& interrupt,
                 DeviceGroup& group) {
    TuningDatabase database(options.database, TuningDatabase::Mode::read_write_create, patience_with(interrupt));
    database.set_environment(group.environment);
    quarantine(database, group, progress);
    group.report.rates = find_profile(
        group.environment.device, {.remeasure = options.remeasure, .budget_seconds = options.budget_seconds}, database,
        [&] { return ask_for_rates(*group.workers.front()); }, [&](const std::string& line) { progress.note(line); });
    group.report.device = group.environment.device;
    const std::vector<Shape> listed = with_sample_sizes(shapes, group.environment.device);
    survey(shapes_of(options.shard, listed), options, database, interrupt, group);
}

// Searches the pending problems of all groups side by side. Returns what one of the searches failed by, which ends the others, too.
std::exception_ptr search_all(const Groups& groups, const TuningOptions& options, const Budget& budget, Progress& progress,
                              const Interrupt& interrupt) {
    std::mutex mutex;
    std::exception_ptr failure;
    std::atomic<bool> stop = false;
    std::vector<std::function<void()>> jobs;
    const auto work = [&](DeviceGroup& group, SharedWorker& worker, int search, int number) {
        try {
            GroupWork(group, worker, search, number, options, budget, progress, interrupt, mutex).run(stop);
        } catch (...) {
            std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
            stop = true;
        }
    };
    int number = 0;
    for (const auto& group : groups) {
        const int searches = searches_of_worker(group->environment.device, budget);
        for (auto& worker : group->workers) {
            if (group->pending.empty()) continue;
            jobs.emplace_back([&, &group = *group, &worker = *worker, searches, number] {
                SharedWorker shared(worker, interrupt);
                std::vector<std::function<void()>> of_worker;
                for (int i = 0; i < searches; ++i) of_worker.emplace_back([&, i] { work(group, shared, i, number + i); });
                run_until_all_end(of_worker);
            });
            number += searches;
        }
    }
    run_side_by_side(jobs);
    return failure;
}

}  // namespace

RunReport run_tuning(const std::vector<Shape>& shapes, const TuningOptions& options, Progress& progress, const Interrupt& interrupt) {
    Groups groups = open_devices(options, progress, interrupt);
    Budget budget(options.budget_seconds, options.start);
    std::size_t undecided = 0;
    for (auto& group : groups) {
        look_at_all(shapes, options, progress, interrupt, *group);
        undecided += group->undecided;
    }
    if (budget.is_limited()) budget.keep(seconds_to_end(options.budget_seconds, groups, undecided));
    progress.start(static_cast<int>(undecided), pace_of(options, groups));
    const std::exception_ptr failure = search_all(groups, options, budget, progress, interrupt);
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
    if (!ended) report.still_running = std::make_shared<Groups>(std::move(groups));
    return report;
}

}  // namespace tmm
