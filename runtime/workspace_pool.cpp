#include "runtime/workspace_pool.h"

#include <algorithm>
#include <bit>

namespace tmm {

WorkspacePool::~WorkspacePool() {
    for (const Slot* slot = first_.load(std::memory_order_relaxed); slot;) delete std::exchange(slot, slot->next);
}

WorkspacePool::Lease WorkspacePool::lease(Stream stream, std::size_t bytes) {
    for (Slot* slot = first_.load(std::memory_order_acquire); slot; slot = slot->next) {
        if (slot->stream != stream || slot->buffer.bytes() < bytes) continue;
        if (!slot->busy.exchange(true, std::memory_order_acquire)) return Lease(*slot);
    }
    // Sizes are powers of two: outgrown buffers, which stay, then add up to no more than the newest.
    const std::size_t rounded = std::bit_ceil(std::max<std::size_t>(bytes, 1 << 16));
    auto* const added = new Slot{.stream = stream, .buffer = DeviceBuffer(device_, rounded), .busy = true};
    added->next = first_.load(std::memory_order_relaxed);
    while (!first_.compare_exchange_weak(added->next, added, std::memory_order_release, std::memory_order_relaxed)) continue;
    return Lease(*added);
}

}  // namespace tmm
