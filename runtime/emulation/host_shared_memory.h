// Shared memory of an emulated block: tiles with gaps between them. Built with AddressSanitizer, any access to a gap is
// reported where it happens; else a gap that was written to is found when the block ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/asynchronous.h"

namespace tmm {

class HostSharedMemory {
public:
    HostSharedMemory();
    ~HostSharedMemory();
    HostSharedMemory(const HostSharedMemory&) = delete;
    HostSharedMemory& operator=(const HostSharedMemory&) = delete;

    // Forgets all tiles; the launch may take limit bytes.
    void begin_launch(std::int64_t limit);
    // Every byte becomes 0xff, which is NaN in each floating-point type.
    void begin_block();
    // The index-th tile, which the first thread that takes it makes. It is null, with the reason in error, where that can't be.
    void* take(int index, std::int64_t bytes, std::string& error);
    // The same place in another block's memory; it is null where the address is in no tile that both have.
    void* counterpart(const void* address, const HostSharedMemory& other) const;
    // Where the GPU, which leaves no gaps, has the address, if a tile holds it; and the tile that has such an address.
    std::optional<unsigned> gpu_address(const void* address) const;
    host::SharedSpan span(unsigned gpu_address) const;
    // Says in words what is wrong with the gaps.
    std::optional<std::string> damage() const;

private:
    struct Tile {
        std::size_t offset;
        std::size_t bytes;
        std::size_t packed;
    };
    static std::size_t end_of(const Tile& tile);
    void forget_from(std::size_t tile);
    struct Free {
        void operator()(unsigned char* memory) const;
    };
    std::unique_ptr<unsigned char[], Free> arena_;
    std::vector<Tile> tiles_;
    // How many of them were taken in this block so far.
    std::size_t taken_ = 0;
    std::size_t used_ = 0;
    std::int64_t packed_ = 0;
    std::int64_t limit_ = 0;
};

}  // namespace tmm
