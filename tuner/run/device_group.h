// GPUs of one model: they share rows of the database, so they share the work.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <vector>

#include "db/store/tuning_database.h"
#include "generator/compile/kernel_book.h"
#include "tuner/compiling/candidate_compiler.h"
#include "tuner/search/pending_problem.h"
#include "tuner/search/run_report.h"
#include "tuner/worker/worker_process.h"

namespace tmm {

struct DeviceGroup {
    Environment environment;
    std::vector<std::unique_ptr<WorkerProcess>> workers;
    KernelBook book;
    std::unique_ptr<CandidateCompiler> compiler;
    // The problems without a decision come first, then those whose decision may count.
    std::vector<PendingProblem> open;
    std::size_t undecided = 0;
    // The next open problem that nobody has taken.
    std::size_t next = 0;
    // Told whenever candidates were made.
    std::condition_variable made;
    // The problems whose turn ended before any candidate passed. They are tuned again in the time that is left.
    std::vector<std::size_t> again;
    DeviceReport report;

    // Turns that are left, for a budget; a problem whose decision may count rarely needs one.
    double turns_left() const {
        const auto decided = static_cast<double>(open.size() - std::max(next, undecided));
        return static_cast<double>(undecided - std::min(next, undecided) + again.size()) + decided / 20;
    }
};

}  // namespace tmm
