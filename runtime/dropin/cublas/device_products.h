// The products of one device: who multiplies each, decided at its problem's first call, and tmm's plans for them.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>

#include "runtime/dropin/cublas/background_tuning.h"
#include "runtime/dropin/cublas/problem_table.h"
#include "runtime/dropin/cublas/product.h"
#include "runtime/dropin/cublas/stream_state.h"
#include "runtime/dropin/cublas/workspaces.h"

namespace tmm::dropin {

// Thread-safe.
class DeviceProducts {
public:
    // ordinal: as tmmCreate takes it. limit: bytes of all workspaces. tuning: null where nothing is tuned.
    DeviceProducts(int ordinal, BlockSource& source, std::size_t limit, BackgroundTuning* tuning);

    // Queues the product on its stream. False where cuBLAS is to multiply it; nothing was queued then. Throws std::bad_alloc.
    bool multiply(const Product& product, const char* function);

private:
    // What was decided with the winners of one time.
    struct Decisions {
        explicit Decisions(unsigned its_runs) : runs(its_runs) {}
        // The runs of the tuning before.
        const unsigned runs;
        ProblemTable problems;
        // Under the lock: the winners are read when the first product comes.
        tmmHandle_t handle = nullptr;
        bool is_closed = false;
        bool lacks_compiler = false;
    };

    bool is_emulated() const { return ordinal_ == TMM_DEVICE_HOST; }
    StreamState state_of(const Product& product) const;
    // Whether tuning has found winners that the decisions know nothing of.
    bool is_outdated(const Decisions& decisions) const { return tuning_ && tuning_->runs() != decisions.runs; }
    // The decisions before stay in memory: other threads and graphs may be using their plans.
    Decisions& renew();
    // Makes the plan, or finds that cuBLAS multiplies the problem.
    void decide(Decisions& decisions, Decision& decision, const Product& product, const StreamState& stream);
    // The reason, a clause, why cuBLAS does. chosen: what tmm says of its choice.
    std::string why_not(Decisions& decisions, Decision& decision, const Product& product, const StreamState& stream, std::string& chosen);
    bool open(Decisions& decisions);
    bool run(Decision& decision, const Product& product, const StreamState& stream);

    const int ordinal_;
    const std::size_t most_workspace_;
    BackgroundTuning* const tuning_;
    Workspaces workspaces_;
    std::mutex deciding_;
    std::atomic<Decisions*> decisions_;
};

}  // namespace tmm::dropin
