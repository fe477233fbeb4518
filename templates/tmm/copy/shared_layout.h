// The shared memory that tiles take, computed in one place for the host, which asks for it, and the kernels, which carve it.
#pragma once

#include "tmm/vocabulary/problem.h"

namespace tmm {

constexpr int kSharedAlignment = 16;

constexpr i64 shared_tile_bytes_of(i64 bytes, int copies) {
    return (bytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment * copies;
}
// Bytes of `copies` tiles of `count` elements each, every tile on a boundary of its own.
template <class T>
constexpr i64 shared_tile_bytes(int count, int copies = 1) {
    return shared_tile_bytes_of(static_cast<i64>(count) * static_cast<i64>(sizeof(T)), copies);
}
constexpr i64 shared_tile_bytes(ElementType type, int count, int copies = 1) {
    return shared_tile_bytes_of(static_cast<i64>(count) * size_of(type), copies);
}

}  // namespace tmm
