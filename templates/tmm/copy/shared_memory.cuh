// A block's dynamic shared memory, carved into tiles. The emulated device has its own version of this file, with gaps
// between the tiles in which any access is an error.
#pragma once

#include "tmm/copy/shared_layout.h"

namespace tmm {

// Equal tiles, one behind the other.
template <class T>
struct SharedTiles {
    T* first;
    int distance;
    __device__ T* operator[](int tile) const { return first + tile * distance; }
};

// Every thread of a block takes the same tiles in the same order.
class SharedMemory {
public:
    __device__ SharedMemory() {
        extern __shared__ __align__(1024) unsigned char tmm_shared_memory[];
        next_ = tmm_shared_memory;
    }

    template <class T, int count, int copies = 1>
    __device__ SharedTiles<T> take() {
        constexpr int tile_bytes = static_cast<int>(shared_tile_bytes<T>(count));
        T* first = reinterpret_cast<T*>(next_);
        next_ += tile_bytes * copies;
        return SharedTiles<T>{first, tile_bytes / static_cast<int>(sizeof(T))};
    }

private:
    unsigned char* next_;
};

}  // namespace tmm
