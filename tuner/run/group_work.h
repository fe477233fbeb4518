// One of the searches that share a worker: it takes one after another of its group's problems, and has the next ones made ready meanwhile.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/processes/interrupt.h"
#include "db/store/tuning_database.h"
#include "tuner/options/budget.h"
#include "tuner/options/tuning_options.h"
#include "tuner/progress/progress.h"
#include "tuner/run/device_group.h"
#include "tuner/search/problem_search.h"
#include "tuner/worker/shared_worker.h"

namespace tmm {

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
