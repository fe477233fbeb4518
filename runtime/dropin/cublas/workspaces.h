// The memory that products of one device work in: a block for each stream, which its later products use again, and one in reserve for the
// next stream capture, which may allocate nothing. All of them together stay within a limit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/dropin/cublas/stream_state.h"

namespace tmm::dropin {

// Where blocks come from. Multiples of 256 bytes; never throws.
class BlockSource {
public:
    virtual ~BlockSource() = default;
    // The result is null where memory is short.
    virtual void* allocate(std::size_t bytes) noexcept = 0;
    // Waits for whatever still uses the memory.
    virtual void release(void* memory) noexcept = 0;
    // Sets the flag when the graph that is being captured, and whatever was made of it, is gone. The result is false where it can't, and
    // the flag is then left alone.
    virtual bool when_gone(void* graph, std::atomic<bool>* flag) noexcept = 0;
};

// Thread-safe.
class Workspaces {
    struct Block {
        void* memory = nullptr;
        std::size_t bytes = 0;
        // Locked while a product is queued: what two threads queue on one stream would otherwise mix.
        std::mutex queueing;
        // The graph that the block was captured in is gone.
        std::atomic<bool> graph_is_gone = false;
    };

public:
    // reserves: keep a block for captures.
    Workspaces(BlockSource& source, std::size_t limit, bool reserves) : source_(source), limit_(limit), reserves_(reserves) {}

    // Held while a product is queued; the order of the stream then keeps the next one apart.
    class Lease {
    public:
        void* memory() const { return block_->memory; }
        std::size_t bytes() const { return block_->bytes; }

    private:
        friend class Workspaces;
        explicit Lease(Block& block) : block_(&block), lock_(block.queueing) {}
        Block* block_;
        std::unique_lock<std::mutex> lock_;
    };

    // Nothing where the limit or the memory does not suffice, or where a capture finds nothing in reserve. Throws std::bad_alloc.
    std::optional<Lease> lease(const StreamState& stream, std::size_t bytes);

    std::size_t allocated() const;

private:
    std::optional<Lease> lease_of_stream(std::uint64_t stream, std::size_t bytes);
    std::optional<Lease> lease_of_capture(const StreamState& stream, std::size_t bytes);
    std::unique_ptr<Block> allocate(std::size_t bytes);
    void release(std::unique_ptr<Block> block);
    // Products that are queued may still use the block, and to release it would wait for all of the device's work.
    void set_aside(std::unique_ptr<Block> block);
    // Whether so many more bytes are within the limit. What was outgrown is released where it is in the way.
    bool fits(std::size_t bytes);
    // Releases what no product is being queued in, until so many more bytes are within the limit.
    void make_room(std::size_t bytes);
    void take_back_from_graphs();
    void keep_reserve();

    BlockSource& source_;
    const std::size_t limit_;
    const bool reserves_;
    mutable std::mutex mutex_;
    std::size_t allocated_ = 0;
    std::size_t largest_ = 0;
    // So many bytes could not be had since something was released last.
    std::size_t refused_ = SIZE_MAX;
    std::map<std::uint64_t, std::unique_ptr<Block>> of_streams_;
    std::unique_ptr<Block> reserve_;
    // What was outgrown, until there is no room for it.
    std::vector<std::unique_ptr<Block>> outgrown_;
    // Blocks of captures, by capture and stream. A graph may be replayed as long as it lives, so that they stay its own.
    std::map<std::pair<std::uint64_t, std::uint64_t>, Block*> of_captures_;
    std::vector<std::unique_ptr<Block>> captured_;
};

}  // namespace tmm::dropin
