// The products of one device: who multiplies each, decided at its problem's first call, and tmm's plans for them.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>

#include "runtime/dropin/problem_table.h"
#include "runtime/dropin/product.h"
#include "runtime/dropin/stream_state.h"
#include "runtime/dropin/workspaces.h"

namespace tmm::dropin {

// Thread-safe.
class DeviceProducts {
public:
    // ordinal: as tmmCreate takes it. limit: bytes of all workspaces.
    DeviceProducts(int ordinal, BlockSource& source, std::size_t limit);

    // Queues the product on its stream. False where cuBLAS is to multiply it; nothing was queued then. Throws std::bad_alloc.
    bool multiply(const Product& product, const char* function);

private:
    bool is_emulated() const { return ordinal_ == TMM_DEVICE_HOST; }
    StreamState state_of(const Product& product) const;
    // Makes the plan, or finds that cuBLAS multiplies the problem.
    void decide(Decision& decision, const Product& product, const StreamState& stream);
    // The reason, a clause, why cuBLAS does. chosen: what tmm says of its choice.
    std::string why_not(Decision& decision, const Product& product, const StreamState& stream, std::string& chosen);
    bool open();
    bool run(Decision& decision, const Product& product, const StreamState& stream);

    const int ordinal_;
    const std::size_t most_workspace_;
    Workspaces workspaces_;
    ProblemTable problems_;
    std::mutex deciding_;
    // Under the lock: the device is opened when its first product comes.
    tmmHandle_t handle_ = nullptr;
    bool is_closed_ = false;
};

}  // namespace tmm::dropin
