// Workspaces of a handle's calls: one buffer for a stream and caller at a time, which is kept for the next call.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "runtime/device.h"

namespace tmm {

// Thread-safe. Buffers are only freed with the pool, because a captured graph may go on using one.
class WorkspacePool {
    struct Slot {
        Stream stream = nullptr;
        DeviceBuffer buffer;
        bool busy = false;
    };

public:
    explicit WorkspacePool(std::shared_ptr<Device> device) : device_(std::move(device)) {}

    // A lease is held while a call is queued: the stream's order then keeps the next user apart.
    class Lease {
    public:
        Lease(WorkspacePool& pool, Slot& slot) : pool_(&pool), slot_(&slot) {}
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        ~Lease();
        void* data() const { return slot_->buffer.data(); }

    private:
        WorkspacePool* pool_;
        Slot* slot_;
    };

    // Allocates only where the stream has no free buffer of that size. Throws std::bad_alloc.
    Lease lease(Stream stream, std::size_t bytes);

private:
    std::shared_ptr<Device> device_;
    std::mutex mutex_;
    // The container is a deque, so that slots stay where they are.
    std::deque<Slot> slots_;
};

}  // namespace tmm
