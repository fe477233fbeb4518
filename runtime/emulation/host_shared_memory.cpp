// Tiles of an emulated block's shared memory and the gaps between them.
#include "runtime/emulation/host_shared_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "runtime/device/sanitizer.h"

namespace tmm {
namespace {

constexpr std::size_t kArenaBytes = 2 << 20;
constexpr std::size_t kGapBytes = 4096;
constexpr unsigned char kFill = 0xff;

constexpr std::size_t rounded_up(std::size_t value, std::size_t unit) {
    return (value + unit - 1) / unit * unit;
}

}  // namespace

void HostSharedMemory::Free::operator()(unsigned char* memory) const {
    std::free(memory);
}

HostSharedMemory::HostSharedMemory() : arena_(static_cast<unsigned char*>(std::aligned_alloc(4096, kArenaBytes))) {
    if (!arena_) throw std::bad_alloc();
    sanitizer::poison(arena_.get(), kArenaBytes);
}

HostSharedMemory::~HostSharedMemory() {
    sanitizer::unpoison(arena_.get(), kArenaBytes);
}

void HostSharedMemory::begin_launch(std::int64_t limit) {
    forget_from(0);
    limit_ = limit;
}

void HostSharedMemory::forget_from(std::size_t tile) {
    if (tile >= tiles_.size()) return;
    const std::size_t kept = tile == 0 ? 0 : end_of(tiles_[tile - 1]);
    sanitizer::poison(arena_.get() + kept, used_ - kept);
    used_ = kept;
    packed_ = static_cast<std::int64_t>(tiles_[tile].packed);
    tiles_.resize(tile);
}

std::size_t HostSharedMemory::end_of(const Tile& tile) {
    return rounded_up(tile.offset + tile.bytes + kGapBytes, 64);
}

void HostSharedMemory::begin_block() {
    taken_ = 0;
    for (const Tile& tile : tiles_) std::memset(arena_.get() + tile.offset, kFill, tile.bytes);
}

void* HostSharedMemory::take(int index, std::int64_t bytes, std::string& error) {
    const auto i = static_cast<std::size_t>(index);
    const bool first_to_take = i >= taken_;
    taken_ = std::max(taken_, i + 1);
    // Most blocks take what the one before took; some have other work.
    if (first_to_take && i < tiles_.size() && static_cast<std::int64_t>(tiles_[i].bytes) != bytes) forget_from(i);
    if (i < tiles_.size()) {
        if (static_cast<std::int64_t>(tiles_[i].bytes) == bytes) return arena_.get() + tiles_[i].offset;
        error = fmt::format("threads of a block take different tiles of shared memory: {} and {} bytes", tiles_[i].bytes, bytes);
        return nullptr;
    }
    const std::int64_t packed = packed_ + (bytes + 15) / 16 * 16;
    if (packed > limit_) {
        error = fmt::format("the kernel takes {} bytes of shared memory and was launched with {}", packed, limit_);
        return nullptr;
    }
    const auto size = static_cast<std::size_t>(bytes);
    // The offset is a multiple of 16 and no more, as a tile's on a GPU may be.
    const std::size_t offset = (tiles_.empty() ? rounded_up(kGapBytes, 64) : used_) + 16;
    const Tile tile{offset, size, static_cast<std::size_t>(packed_)};
    const std::size_t end = end_of(tile);
    if (end > kArenaBytes) {
        error = fmt::format("the kernel takes more than {} tiles of shared memory", tiles_.size());
        return nullptr;
    }
    if constexpr (!sanitizer::kActive) std::memset(arena_.get() + used_, kFill, end - used_);
    sanitizer::unpoison(arena_.get() + offset, size);
    std::memset(arena_.get() + offset, kFill, size);
    tiles_.push_back(tile);
    packed_ = packed;
    used_ = end;
    return arena_.get() + offset;
}

void* HostSharedMemory::counterpart(const void* address, const HostSharedMemory& other) const {
    const auto* const byte = static_cast<const unsigned char*>(address);
    for (std::size_t i = 0; i < std::min(tiles_.size(), other.tiles_.size()); ++i) {
        const unsigned char* const first = arena_.get() + tiles_[i].offset;
        const std::size_t bytes = std::min(tiles_[i].bytes, other.tiles_[i].bytes);
        if (byte >= first && byte < first + bytes) return other.arena_.get() + other.tiles_[i].offset + (byte - first);
    }
    return nullptr;
}

std::optional<unsigned> HostSharedMemory::gpu_address(const void* address) const {
    const auto* const byte = static_cast<const unsigned char*>(address);
    for (const Tile& tile : tiles_) {
        const unsigned char* const first = arena_.get() + tile.offset;
        if (byte >= first && byte < first + tile.bytes) return static_cast<unsigned>(tile.packed + static_cast<std::size_t>(byte - first));
    }
    return std::nullopt;
}

host::SharedSpan HostSharedMemory::span(unsigned gpu_address) const {
    for (const Tile& tile : tiles_)
        if (gpu_address >= tile.packed && gpu_address < tile.packed + tile.bytes)
            return {static_cast<unsigned>(tile.packed), static_cast<unsigned>(tile.bytes), arena_.get() + tile.offset};
    return {};
}

std::optional<std::string> HostSharedMemory::damage() const {
    if constexpr (sanitizer::kActive) return std::nullopt;
    std::size_t gap = 0;
    for (std::size_t i = 0; i <= tiles_.size() && used_ > 0; ++i) {
        const std::size_t end = i < tiles_.size() ? tiles_[i].offset : used_;
        const unsigned char* const first = arena_.get() + gap;
        const unsigned char* const last = arena_.get() + end;
        // The range equals itself one byte further on where all bytes are the same.
        const bool whole = *first == kFill && std::memcmp(first, first + 1, static_cast<std::size_t>(last - first) - 1) == 0;
        if (!whole) {
            const unsigned char* const found = std::find_if(first, last, [](unsigned char byte) { return byte != kFill; });
            if (i == 0) return fmt::format("shared memory was written {} bytes before its first tile", last - found);
            return fmt::format("shared memory was written {} bytes past the end of its tile {}, of {} bytes", found - first, i - 1,
                               tiles_[i - 1].bytes);
        }
        if (i < tiles_.size()) gap = tiles_[i].offset + tiles_[i].bytes;
    }
    return std::nullopt;
}

}  // namespace tmm
