#include "runtime/workspace_pool.h"

#include <algorithm>
#include <bit>

namespace tmm {

WorkspacePool::Lease::~Lease() {
    const std::lock_guard lock(pool_->mutex_);
    slot_->busy = false;
}

WorkspacePool::Lease WorkspacePool::lease(Stream stream, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    for (Slot& slot : slots_) {
        if (slot.busy || slot.stream != stream || slot.buffer.bytes() < bytes) continue;
        slot.busy = true;
        return Lease(*this, slot);
    }
    // Sizes are powers of two: outgrown buffers, which stay, then add up to no more than the newest.
    const std::size_t rounded = std::bit_ceil(std::max<std::size_t>(bytes, 1 << 16));
    DeviceBuffer buffer(device_, rounded);
    slots_.push_back(Slot{.stream = stream, .buffer = std::move(buffer), .busy = true});
    return Lease(*this, slots_.back());
}

}  // namespace tmm
