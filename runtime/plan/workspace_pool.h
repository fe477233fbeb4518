// Workspaces of a handle's calls: one buffer for a stream and caller at a time, which is kept for the next call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/device/device.h"

namespace tmm {

// Thread-safe; a lock is taken only where a buffer is made.
class WorkspacePool {
    struct Slot {
        // Who holds `busy` may change these three.
        std::atomic<Stream> stream = nullptr;
        std::atomic<std::size_t> bytes = 0;
        DeviceBuffer buffer;
        std::atomic<bool> busy = false;
        // A captured graph goes on using the buffer, so that it is only freed with the pool.
        std::atomic<bool> is_recorded = false;
        std::atomic<std::uint64_t> last_lease = 0;
        Slot* next = nullptr;
    };

public:
    // A program may make a stream for each request. Beyond this many buffers the least recently used one is freed for a new one, which
    // waits for the device.
    static constexpr int kMost = 32;

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
    // The slot is taken: busy is set.
    Slot* take_free(Stream stream, std::size_t bytes);
    Slot* take_least_recently_used();
    Slot* add_slot();
    Lease leased(Slot& slot, Stream stream);

    std::shared_ptr<Device> device_;
    // A list to whose front slots are added, and which stay.
    std::atomic<Slot*> first_ = nullptr;
    std::atomic<std::uint64_t> leases_ = 0;
    std::mutex mutex_;
    int count_ = 0;
};

}  // namespace tmm
