#include "runtime/plan/workspace_pool.h"

#include <algorithm>
#include <bit>

namespace tmm {

WorkspacePool::~WorkspacePool() {
    for (const Slot* slot = first_.load(std::memory_order_relaxed); slot;) delete std::exchange(slot, slot->next);
}

WorkspacePool::Slot* WorkspacePool::take_free(Stream stream, std::size_t bytes) {
    const auto fits = [&](const Slot& slot) { return slot.stream.load() == stream && slot.bytes.load() >= bytes; };
    for (Slot* slot = first_.load(std::memory_order_acquire); slot; slot = slot->next) {
        if (!fits(*slot) || slot->busy.exchange(true, std::memory_order_acquire)) continue;
        // It may have become another stream's meanwhile.
        if (fits(*slot)) return slot;
        slot->busy.store(false, std::memory_order_release);
    }
    return nullptr;
}

WorkspacePool::Slot* WorkspacePool::take_least_recently_used() {
    Slot* oldest = nullptr;
    for (Slot* slot = first_.load(std::memory_order_acquire); slot; slot = slot->next) {
        if (slot->is_recorded || slot->busy) continue;
        if (!oldest || slot->last_lease < oldest->last_lease) oldest = slot;
    }
    if (!oldest || oldest->busy.exchange(true, std::memory_order_acquire)) return nullptr;
    if (!oldest->is_recorded) return oldest;
    oldest->busy.store(false, std::memory_order_release);
    return nullptr;
}

WorkspacePool::Slot* WorkspacePool::add_slot() {
    auto* const added = new Slot{.buffer = {}, .busy = true, .next = first_.load(std::memory_order_relaxed)};
    while (!first_.compare_exchange_weak(added->next, added, std::memory_order_release, std::memory_order_relaxed)) continue;
    ++count_;
    return added;
}

WorkspacePool::Lease WorkspacePool::leased(Slot& slot, Stream stream) {
    slot.last_lease = ++leases_;
    try {
        if (!slot.is_recorded && device_->is_recorded(stream)) slot.is_recorded = true;
    } catch (...) {
        slot.busy.store(false, std::memory_order_release);
        throw;
    }
    return Lease(slot);
}

WorkspacePool::Lease WorkspacePool::lease(Stream stream, std::size_t bytes) {
    if (Slot* const slot = take_free(stream, bytes)) return leased(*slot, stream);
    const std::lock_guard lock(mutex_);
    Slot* slot = count_ < kMost ? nullptr : take_least_recently_used();
    if (!slot) slot = add_slot();
    try {
        slot->bytes = 0;
        slot->buffer = DeviceBuffer();
        // Sizes are powers of two: outgrown buffers then add up to no more than the newest.
        slot->buffer = DeviceBuffer(device_, std::bit_ceil(std::max<std::size_t>(bytes, 1 << 16)));
    } catch (...) {
        slot->busy.store(false, std::memory_order_release);
        throw;
    }
    slot->stream = stream;
    slot->bytes = slot->buffer.bytes();
    return leased(*slot, stream);
}

}  // namespace tmm
