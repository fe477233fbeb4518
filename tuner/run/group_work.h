// The work of a run on the GPUs of one model, and the searches that do it.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/processes/interrupt.h"
#include "db/store/tuning_database.h"
#include "generator/compile/kernel_book.h"
#include "tuner/compiling/candidate_compiler.h"
#include "tuner/options/tuning_options.h"
#include "tuner/progress/progress.h"
#include "tuner/search/pending_problem.h"
#include "tuner/search/problem_search.h"
#include "tuner/search/run_report.h"
#include "tuner/worker/shared_worker.h"
#include "tuner/worker/worker_process.h"

namespace tmm {

// GPUs of one model share rows of the database, so they share the work.
struct DeviceGroup {
    Environment environment;
    std::vector<std::unique_ptr<WorkerProcess>> workers;
    KernelBook book;
    std::unique_ptr<CandidateCompiler> compiler;
    // The problems without a decision come first, then those whose decision may count.
    std::vector<PendingProblem> pending;
    std::size_t undecided = 0;
    // The next pending problem that nobody has taken.
    std::size_t next = 0;
    // Told whenever candidates were made.
    std::condition_variable made;
    // The problems whose turn ended before any candidate passed. They are tuned again in the time that is left.
    std::vector<std::size_t> again;
    DeviceReport report;

    // Turns that are left, for a budget; a problem whose decision may count rarely needs one.
    double turns_left() const {
        const auto decided = static_cast<double>(pending.size() - std::max(next, undecided));
        return static_cast<double>(undecided - std::min(next, undecided) + again.size()) + decided / 20;
    }
};

// One of the searches that share a worker: it takes one after another of its group's problems, and has the next ones made ready meanwhile.
// Ctrl-C ends waiting for the database, too.
Patience patience_with(const Interrupt& interrupt);

// A thread has one of its own. search tells those of a worker apart, number those of the run. mutex: what the workers of a run share is
// used under it.
class GroupWork {
public:
    GroupWork(DeviceGroup& group, SharedWorker& worker, int search, int number, const TuningOptions& options, const Budget& budget,
              Progress& progress, const Interrupt& interrupt, std::mutex& mutex);
    ~GroupWork();
    GroupWork(const GroupWork&) = delete;
    GroupWork& operator=(const GroupWork&) = delete;

    // Returns once no problem is left, the budget is over, the run is interrupted, or another worker stops all.
    void run(const std::atomic<bool>& stop);

private:
    void search_anew(PendingProblem& problem, const Turn& turn);
    // Makes the problem's candidates, where they are not made, or waits for the thread that is at it. The lock is open meanwhile.
    void make_candidates_of(PendingProblem& problem, const Turn& turn, TuningDatabase& database, std::unique_lock<std::mutex>& lock);
    // Takes the next problem, with its candidates and the time that it may take. The problems that come after it are made ready while it is
    // measured.
    std::optional<std::size_t> take(Turn& turn);
    // Making candidates takes a good part of a second on a busy machine, in which the device would have nothing to do.
    void look_ahead(std::size_t first, std::size_t end, const Turn& turn);
    void end_looking_ahead();
    void start_compiler();
    // Returns true where the earlier decision counts.
    bool report_earlier(PendingProblem& problem, const Turn& turn);

    DeviceGroup& group_;
    WorkerShare worker_;
    int number_;
    const TuningOptions& options_;
    const Budget& budget_;
    Progress& progress_;
    const Interrupt& interrupt_;
    std::mutex& mutex_;
    TuningDatabase database_;
    // What its searches use; nothing before the first of them.
    std::unique_ptr<SearchContext> context_;
    // What the thread that looks ahead has for itself, and what it failed by.
    TuningDatabase ahead_database_;
    std::optional<std::thread> ahead_;
    std::exception_ptr ahead_failure_;
};

}  // namespace tmm
