// Workspaces of a handle's calls: one buffer for a stream and caller at a time, which is kept for the next call.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "runtime/device.h"

namespace tmm {

// Thread-safe, without locks. Buffers are only freed with the pool, because a captured graph may go on using one.
class WorkspacePool {
    struct Slot {
        const Stream stream = nullptr;
        const DeviceBuffer buffer;
        std::atomic<bool> busy = false;
        Slot* next = nullptr;
    };

public:
    explicit WorkspacePool(std::shared_ptr<Device> device) : device_(std::move(device)) {}
    ~WorkspacePool();
    WorkspacePool(const WorkspacePool&) = delete;
    WorkspacePool& operator=(const WorkspacePool&) = delete;

    // A lease is held while a call is queued: the stream's order then keeps the next user apart.
    class Lease {
    public:
        explicit Lease(Slot& slot) : slot_(&slot) {}
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        ~Lease() { slot_->busy.store(false, std::memory_order_release); }
        void* data() const { return slot_->buffer.data(); }

    private:
        Slot* slot_;
    };

    // Allocates only where the stream has no free buffer of that size. Throws std::bad_alloc.
    Lease lease(Stream stream, std::size_t bytes);

private:
    std::shared_ptr<Device> device_;
    // A list to whose front slots are added, and which stay.
    std::atomic<Slot*> first_ = nullptr;
};

}  // namespace tmm
