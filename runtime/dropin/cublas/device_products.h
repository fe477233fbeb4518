// The products of one device: who multiplies each, and tmm's plans for them.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>

#include "runtime/dropin/cublas/background_tuning.h"
#include "runtime/dropin/cublas/choices.h"
#include "runtime/dropin/cublas/problem_table.h"
#include "runtime/dropin/cublas/product.h"
#include "runtime/dropin/cublas/racing.h"
#include "runtime/dropin/cublas/stream_state.h"
#include "runtime/dropin/cublas/workspaces.h"

namespace tmm::dropin {

// Thread-safe. Never destroyed.
class DeviceProducts {
public:
    // ordinal: as tmmCreate takes it. limit: bytes of all workspaces. tuning: null where nothing is tuned.
    DeviceProducts(int ordinal, BlockSource& source, std::size_t limit, BackgroundTuning* tuning);

    // Queues the product on its stream, unless the library's turn has come; nothing was queued then. Throws std::bad_alloc.
    Turn multiply(const Product& product, const char* function);

private:
    // What was decided with the winners of one time.
    struct Decisions {
        Decisions(int ordinal, std::size_t most_workspace, BackgroundTuning* tuning) : choices(ordinal, most_workspace, tuning) {}

        Choices choices;
        ProblemTable problems;
    };

    bool is_emulated() const { return ordinal_ == TMM_DEVICE_HOST; }
    StreamState state_of(const Product& product) const;
    // Whether tuning has found winners that the decisions know nothing of.
    bool is_outdated(const Decisions& decisions) const { return tuning_ && tuning_->runs() != decisions.choices.runs; }
    // The decisions before stay in memory: other threads and graphs may be using their plans.
    Decisions& renew();
    Decisions* made_decisions() const;
    // On the emulated device, which is for tests, and where bits must hang on no other row, which cuBLAS's do, the first call waits for
    // what is chosen.
    void decide_now(Decisions& decisions, Decision& decision, const Product& product);
    // In a race.
    Turn race(RacedShape& shape, Decision& decision, const Product& product, const StreamState& stream);
    bool run(const ReadyPlan& plan, Decision& decision, const Product& product, const StreamState& stream);

    const int ordinal_;
    const std::size_t most_workspace_;
    BackgroundTuning* const tuning_;
    const bool waits_;
    Racing racing_;
    Workspaces workspaces_;
    std::mutex deciding_;
    std::atomic<Decisions*> decisions_;
};

}  // namespace tmm::dropin
