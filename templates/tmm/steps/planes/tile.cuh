// How the threads of a block share a tile, 32 lines of 256 elements, of a stored operand: each has 8 quads of neighbouring elements.
//
//     lines are rows: a warp has 4 lines, 8 apart, a         lines are columns: 8 threads a row; a thread's quads
//     thread 2 quads of each                                 stand in the same 4 lines, 32 rows apart
//
//         | 0 1 2 … 31 0 1 2 … 31 |  of warp 0                   | 0  1  …  7  |
//         | 0 1 2 … 31 0 1 2 … 31 |  of warp 1                   | 8  9  … 15  |
//         | …                     |                              | …           |
#pragma once

#include "tmm/copy/vector.cuh"
#include "tmm/steps/planes/rules.h"

namespace tmm::planes {

constexpr int kWarps = kThreads / 32;

// Quads of a line that a thread has.
template <bool lines_are_rows>
inline constexpr int quads_per_line = lines_are_rows ? kTileDepth / (32 * kQuad) : kQuads;

struct Place {
    int row;
    int column;
};
// The thread's first quad, and how far the i-th stands from it.
template <bool lines_are_rows>
__device__ inline Place first_place() {
    constexpr int threads_per_row = lines_are_rows ? 32 : kTileLines / kQuad;
    const int thread = static_cast<int>(threadIdx.x);
    return Place{thread / threads_per_row, thread % threads_per_row * kQuad};
}
template <bool lines_are_rows>
__device__ constexpr Place offset_of_quad(int i) {
    if constexpr (lines_are_rows)
        return Place{i / quads_per_line<true> * kWarps, i % quads_per_line<true> * 32 * kQuad};
    else
        return Place{i * (kThreads * kQuad / kTileLines), 0};
}

__device__ inline float* quad_of_thread(float* tile, int i) {
    return tile + (i * kThreads + static_cast<int>(threadIdx.x)) * kQuad;
}

// How much there is from a thread's first quad on; at most a tile.
struct Extent {
    int rows;
    int columns;

    __device__ Extent(i64 rows_left, i64 columns_left) : rows(part(rows_left)), columns(part(columns_left)) {}
    __device__ static int part(i64 left) { return left < 0 ? 0 : left < kTileDepth ? static_cast<int>(left) : kTileDepth; }
};

// Starts the copy of a thread's quads of the tile that begins at row0 and column0 to their places in shared memory, where the block's
// i-th quads stand side by side. Rows from row_end on, and columns from column_end on, are 0.
template <bool lines_are_rows, int align>
__device__ inline void start_copy(float* tile, const float* matrix, i64 ld, i64 row0, i64 column0, i64 row_end, i64 column_end) {
    const Place place = first_place<lines_are_rows>();
    const i64 row = row0 + place.row;
    const i64 column = column0 + place.column;
    const Extent extent(row_end - row, column_end - column);
    const float* const first = matrix + row * ld + column;
#pragma unroll
    for (int i = 0; i < kQuads; ++i) {
        const Place offset = offset_of_quad<lines_are_rows>(i);
        const float* const source = first + offset.row * ld + offset.column;
        float* const destination = quad_of_thread(tile, i);
        // Where nothing is valid the address is not followed.
        const int valid = offset.row < extent.rows ? extent.columns - offset.column : 0;
        const auto bytes = [&](int from, int most) { return valid <= from ? 0 : valid - from < most ? (valid - from) * 4 : most * 4; };
        if constexpr (align >= 16) {
            ptx::cp_async_16(destination, source, bytes(0, kQuad));
        } else {
#pragma unroll
            for (int j = 0; j < kQuad; ++j) ptx::cp_async_4(destination + j, source + j, bytes(j, 1));
        }
    }
}

}  // namespace tmm::planes
