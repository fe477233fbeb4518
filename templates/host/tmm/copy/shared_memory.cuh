// The emulated device's version of tmm/copy/shared_memory.cuh: every tile stands alone, with gaps around it that no thread may
// touch, and is filled with NaN when its block begins.
#pragma once

#include "host/cuda_builtins.h"
#include "tmm/copy/shared_layout.h"

namespace tmm {

// Equal tiles, `distance` elements from one to the next.
template <class T>
struct SharedTiles {
    T* first;
    int distance;
    T* operator[](int tile) const { return first + tile * distance; }
};

// Every thread of a block takes the same tiles in the same order.
class SharedMemory {
public:
    template <class T, int count, int copies = 1>
    SharedTiles<T> take(TMM_HOST_SITE) {
        static_assert(copies >= 1 && sizeof(T) <= kSharedAlignment && kSharedAlignment % sizeof(T) == 0);
        T* tiles[copies];
        for (T*& tile : tiles)
            tile = static_cast<T*>(host::services->take_shared(taken_++, static_cast<long long>(count) * sizeof(T), {file, line}));
        return SharedTiles<T>{tiles[0], copies > 1 ? static_cast<int>(tiles[copies > 1 ? 1 : 0] - tiles[0]) : count};
    }

private:
    int taken_ = 0;
};

}  // namespace tmm
