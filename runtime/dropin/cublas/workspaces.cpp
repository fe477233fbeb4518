#include "runtime/dropin/cublas/workspaces.h"

#include <algorithm>
#include <bit>
#include <initializer_list>

namespace tmm::dropin {
namespace {

constexpr std::size_t kSmallestBlock = 1 << 20;

}  // namespace

std::size_t Workspaces::allocated() const {
    const std::lock_guard lock(mutex_);
    return allocated_;
}

std::optional<Workspaces::Lease> Workspaces::lease(const StreamState& stream, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    switch (stream.kind) {
        case StreamState::Kind::executing: return lease_of_stream(stream.id, bytes);
        case StreamState::Kind::capturing: return lease_of_capture(stream, bytes);
        case StreamState::Kind::unknown: return std::nullopt;
    }
    return std::nullopt;
}

std::optional<Workspaces::Lease> Workspaces::lease_of_stream(std::uint64_t stream, std::size_t bytes) {
    std::unique_ptr<Block>& block = of_streams_[stream];
    if (!block || block->bytes < bytes) {
        take_back_from_graphs();
        if (bytes > limit_) return std::nullopt;
        if (block) {
            // Whoever queues with it at this moment comes first.
            { const std::lock_guard last(block->queueing); }
            set_aside(std::move(block));
        }
        // A block of a power of two is seldom outgrown.
        for (const std::size_t size : {std::bit_ceil(std::max(bytes, kSmallestBlock)), bytes}) {
            if (block || size > limit_) continue;
            make_room(size);
            block = allocate(size);
        }
        if (!block) return std::nullopt;
        largest_ = std::max(largest_, block->bytes);
    }
    if (reserves_) keep_reserve();
    return Lease(*block);
}

std::optional<Workspaces::Lease> Workspaces::lease_of_capture(const StreamState& stream, std::size_t bytes) {
    const std::pair key(stream.capture, stream.id);
    const auto found = of_captures_.find(key);
    if (found != of_captures_.end() && found->second->bytes >= bytes) return Lease(*found->second);
    if (!reserve_ || reserve_->bytes < bytes) return std::nullopt;
    captured_.reserve(captured_.size() + 1);
    Block*& place = of_captures_[key];
    if (!source_.when_gone(stream.graph, &reserve_->graph_is_gone)) {
        if (!place) of_captures_.erase(key);
        return std::nullopt;
    }
    captured_.push_back(std::move(reserve_));
    place = captured_.back().get();
    return Lease(*place);
}

std::unique_ptr<Workspaces::Block> Workspaces::allocate(std::size_t bytes) {
    if (!fits(bytes) || bytes >= refused_) return nullptr;
    auto block = std::make_unique<Block>();
    block->memory = source_.allocate(bytes);
    for (; !block->memory && !outgrown_.empty(); outgrown_.pop_back(), block->memory = source_.allocate(bytes))
        release(std::move(outgrown_.back()));
    if (!block->memory) refused_ = bytes;
    if (!block->memory) return nullptr;
    block->bytes = bytes;
    allocated_ += bytes;
    return block;
}

void Workspaces::release(std::unique_ptr<Block> block) {
    source_.release(block->memory);
    allocated_ -= block->bytes;
    refused_ = SIZE_MAX;
}

void Workspaces::set_aside(std::unique_ptr<Block> block) {
    outgrown_.push_back(std::move(block));
}

bool Workspaces::fits(std::size_t bytes) {
    const auto fits = [&] { return bytes <= limit_ - std::min(limit_, allocated_); };
    for (; !fits() && !outgrown_.empty(); outgrown_.pop_back()) release(std::move(outgrown_.back()));
    return fits();
}

void Workspaces::make_room(std::size_t bytes) {
    if (!fits(bytes) && reserve_) release(std::move(reserve_));
    for (auto& [stream, block] : of_streams_) {
        if (fits(bytes)) return;
        if (!block || !block->queueing.try_lock()) continue;
        block->queueing.unlock();
        release(std::move(block));
    }
}

void Workspaces::take_back_from_graphs() {
    for (std::unique_ptr<Block>& block : captured_) {
        if (!block->graph_is_gone) continue;
        std::erase_if(of_captures_, [&](const auto& of) { return of.second == block.get(); });
        release(std::move(block));
    }
    std::erase(captured_, nullptr);
}

void Workspaces::keep_reserve() {
    if (reserve_ && reserve_->bytes >= largest_) return;
    take_back_from_graphs();
    if (reserve_) set_aside(std::move(reserve_));
    // Where there is no room, captures go without; products that run at once need theirs.
    reserve_ = allocate(largest_);
}

}  // namespace tmm::dropin
