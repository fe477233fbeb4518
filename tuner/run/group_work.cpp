#include "tuner/run/group_work.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "base/text/environment.h"
#include "base/text/side_by_side.h"
#include "generator/problem/matrix_layout.h"
#include "tuner/compiling/candidate_compiler.h"
#include "tuner/compiling/compile_processes.h"
#include "tuner/search/earlier_decision.h"
#include "tuner/search/pending_problem.h"
#include "tuner/search/tune_problem.h"

namespace tmm {
namespace {

// The problems for each worker that the compiler has before their turn; a short turn is over before a kernel is compiled.
constexpr std::size_t kAhead = 2;
constexpr std::size_t kAheadWithinBudget = 4;
// The first kernels of these problems come behind as many of those in turn, which count theirs from 0, the rest behind all of them.
constexpr std::size_t kFirstKernels = 4;
constexpr int kBehindAll = 1 << 20;

// Infinity where a number can't count them.
double bytes_of_operands(const GemmProblem& p) {
    double bytes = 0;
    for (const MatrixLayout& layout : {layout_of_a(p), layout_of_b(p), layout_of_c(p), layout_of_residual(p)}) {
        const auto extent = extent_in_bytes(layout);
        bytes += extent ? static_cast<double>(*extent) : std::numeric_limits<double>::infinity();
    }
    return bytes;
}

// Requests the kernels that a problem lacks before its turn.
void request_kernels(CandidateCompiler& compiler, const PendingProblem& problem, TuningDatabase& database, const TuningOptions& options,
                     int number) {
    const auto known = known_measurements(database, problem.shape.problem, problem.candidates);
    for (std::size_t i = 0; i < known.size(); ++i) {
        if (known[i] && !options.remeasure && problem.phase != Phase::rematch) continue;
        const bool first = i < kFirstKernels;
        if (!first && options.budget_seconds > 0) return;
        const int rank = static_cast<int>(first ? kFirstKernels + i : kBehindAll + number);
        for (const PlannedKernel* kernel : problem.candidates[i].kernels) compiler.request(kernel->source, number, rank);
    }
    for (const Candidate& variant : problem.likely_variants)
        for (const PlannedKernel* kernel : variant.kernels) compiler.request(kernel->source, number, kBehindAll + number);
}

}  // namespace

Patience patience_with(const Interrupt& interrupt) {
    return {.stop = [&interrupt] { return interrupt.requested(); }};
}

GroupWork::GroupWork(DeviceGroup& group, SharedWorker& worker, int search, int number, const TuningOptions& options, const Budget& budget,
                     Progress& progress, const Interrupt& interrupt, std::mutex& mutex)
    : group_(group),
      worker_(worker, search),
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

GroupWork::~GroupWork() {
    if (ahead_) ahead_->join();
}

void GroupWork::run(const std::atomic<bool>& stop) {
    while (!stop && !interrupt_.requested() && !budget_.is_over()) {
        if (!worker_.alive()) {
            // No problem's turn is shortened by what another problem's candidate has done.
            if (budget_.left() <= worker_.start_seconds()) return;
            worker_.respawn();
        }
        Turn turn;
        const auto mine = take(turn);
        if (!mine) return;
        PendingProblem& problem = group_.pending[*mine];
        if (problem.phase == Phase::recall && report_earlier(problem, turn)) continue;
        if (!context_)
            context_.reset(new SearchContext{.number = number_,
                                             .worker = worker_,
                                             .compiler = *group_.compiler,
                                             .database = database_,
                                             .progress = progress_,
                                             .interrupt = interrupt_,
                                             .options = options_,
                                             .budget = budget_});
        if (!worker_.take_room(bytes_of_operands(problem.shape.problem))) return;
        Phase begun = problem.phase;
        ProblemReport report = tune_problem(*context_, problem, static_cast<int>(*mine), turn);
        if (begun == Phase::rematch && is_upset(report, *problem.earlier)) {
            search_anew(problem, turn);
            begun = problem.phase;
            report = tune_problem(*context_, problem, static_cast<int>(*mine), turn);
        }
        worker_.leave_room();
        std::lock_guard lock(mutex_);
        problem.candidates = {};
        problem.likely_variants = {};
        if (problem.phase == Phase::out_of_time && !interrupt_.requested()) {
            enter(problem.phase, begun);
            group_.again.push_back(*mine);
        }
        group_.report.problems[problem.place] = std::move(report);
    }
}

void GroupWork::search_anew(PendingProblem& problem, const Turn& turn) {
    std::unique_lock lock(mutex_);
    progress_.add_problem();
    enter(problem.phase, Phase::search);
    problem.candidates = {};
    make_candidates_of(problem, turn, database_, lock);
}

void GroupWork::make_candidates_of(PendingProblem& problem, const Turn& turn, TuningDatabase& database,
                                   std::unique_lock<std::mutex>& lock) {
    group_.made.wait(lock, [&] { return !problem.being_made; });
    if (!problem.candidates.empty()) return;
    problem.being_made = true;
    lock.unlock();
    const auto done = [&] {
        lock.lock();
        problem.being_made = false;
        group_.made.notify_all();
    };
    try {
        prepare_candidates(problem, turn, options_, group_.environment.device, group_.book, database);
    } catch (...) {
        done();
        throw;
    }
    done();
}

std::optional<std::size_t> GroupWork::take(Turn& turn) {
    end_looking_ahead();
    std::unique_lock lock(mutex_);
    // The workers of a group process the remaining problems at the same time.
    const auto workers = static_cast<double>(group_.workers.size());
    const DeviceInfo& device = group_.environment.device;
    turn = budget_.turn(group_.turns_left() / workers, device.emulated ? 0.2 : 1);
    std::size_t mine = group_.next;
    if (mine < group_.pending.size()) {
        ++group_.next;
    } else if (!group_.again.empty()) {
        mine = group_.again.front();
        group_.again.erase(group_.again.begin());
    } else {
        return std::nullopt;
    }
    PendingProblem& problem = group_.pending[mine];
    if (problem.phase != Phase::recall) start_compiler();
    // An earlier decision is compared with all candidates.
    make_candidates_of(problem, problem.phase == Phase::recall ? Turn{} : turn, database_, lock);
    const std::size_t ahead = group_.workers.size() * (budget_.is_limited() ? kAheadWithinBudget : kAhead);
    const std::size_t first = group_.next;
    const std::size_t end = std::min(first + ahead, group_.undecided);
    if (first >= end) return mine;
    // Where there is no thread left a problem is made ready when its turn comes.
    ahead_ = start_thread([this, first, end, turn] { look_ahead(first, end, turn); });
    return mine;
}

void GroupWork::look_ahead(std::size_t first, std::size_t end, const Turn& turn) {
    try {
        for (std::size_t i = first; i < end && !interrupt_.requested(); ++i) {
            std::unique_lock lock(mutex_);
            PendingProblem& problem = group_.pending[i];
            // Its turn has come, or another thread looks at it.
            if (i < group_.next || problem.being_made || !problem.candidates.empty()) continue;
            make_candidates_of(problem, turn, ahead_database_, lock);
            // A problem requests the kernels that it lacks when its turn comes.
            if (i >= group_.next) request_kernels(*group_.compiler, problem, ahead_database_, options_, static_cast<int>(i));
        }
    } catch (...) {
        ahead_failure_ = std::current_exception();
    }
}

void GroupWork::end_looking_ahead() {
    if (ahead_) ahead_->join();
    ahead_.reset();
    if (ahead_failure_) std::rethrow_exception(std::exchange(ahead_failure_, nullptr));
}

void GroupWork::start_compiler() {
    if (group_.compiler) return;
    const SearchCompiler search = make_search_compiler(group_.environment.device);
    group_.compiler = std::make_unique<CandidateCompiler>(search.compiler, KernelCache(default_cache_directory()), search.threads);
    group_.compiler->request(make_verify_source(), -1, -1);
}

bool GroupWork::report_earlier(PendingProblem& problem, const Turn& turn) {
    std::unique_lock lock(mutex_);
    const ReusableResult earlier = reusable_result_of(database_, problem, options_, group_.environment.device, group_.book);
    if (earlier == ReusableResult::counts) {
        enter(problem.phase, Phase::decided);
        take_earlier(database_, problem, std::move(problem.candidates), group_.environment.device, group_.book,
                     group_.report.problems[problem.place]);
        problem.candidates = {};
        return true;
    }
    enter(problem.phase, earlier == ReusableResult::races ? Phase::rematch : Phase::search);
    start_compiler();
    progress_.add_problem();
    if (problem.phase == Phase::rematch) {
        problem.candidates = {};
        make_candidates_of(problem, turn, database_, lock);
    }
    return false;
}

}  // namespace tmm
