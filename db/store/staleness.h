// Whether a winner was decided on with another driver, compiler or kernel than there is now.
#pragma once

#include "db/store/tuning_database.h"
#include "generator/compile/kernel_book.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// What is another now than when the winner was decided on.
struct Staleness {
    bool driver = false;
    bool nvrtc = false;
    // The config was measured with other kernels than tmm makes of it today, or is not valid any more.
    bool kernels = false;
    // The database has no measurement of the config, whose winner came without any.
    bool unmeasured = false;
    // It was decided by times of products that follow each other, without another kernel between.
    bool back_to_back = false;

    bool any() const { return driver || nvrtc || kernels || unmeasured || back_to_back; }
};

// A winner that is stale races a few guesses when its problem is tuned again. now: the device with today's driver and compiler, whose rows
// the database reads.
Staleness staleness(const GemmProblem& problem, const TuningDatabase::Decision& decision, const Environment& now, TuningDatabase& database,
                    KernelBook& book);

}  // namespace tmm
