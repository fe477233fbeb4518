// How the threads of a block share a tile of a stored operand: each takes 8 quads of neighbouring elements.
//
//     lines are rows: 4 threads a row, a thread's quads      lines are columns: 32 threads a row, a thread's quads
//     stand in one line                                      stand in the same 4 lines
//
//         | 0 1 2 3 0 1 2 3 … |                                  | 0  1  2  …  31 |
//         | 4 5 6 7 4 5 6 7 … |                                  | 32 33 34 …  63 |
//         | …                 |                                  | …              |   then the first 32 again
#pragma once

#include "tmm/planes.h"
#include "tmm/vector.cuh"

namespace tmm::planes {

struct Place {
    int row;
    int column;
};
template <bool lines_are_rows>
__device__ inline Place place_of_quad(int i) {
    constexpr int threads_per_row = lines_are_rows ? kTileColumns / (kQuad * kQuads) : kTileColumns / kQuad;
    const int thread = static_cast<int>(threadIdx.x);
    const int row = thread / threads_per_row;
    const int quad = thread % threads_per_row;
    return lines_are_rows ? Place{row, (quad + i * threads_per_row) * kQuad} : Place{row + i * (kThreads / threads_per_row), quad * kQuad};
}

// What is outside of the matrix is 0.
template <int align>
__device__ inline Vector<float, kQuad> load_quad(const float* matrix, const Operand& o, i64 row, i64 column) {
    Vector<float, kQuad> quad{};
    if (row >= o.rows) return quad;
    const float* const source = matrix + row * o.ld + column;
    if (align >= 16 && column + kQuad <= o.columns) return load_vector<kQuad>(source);
#pragma unroll
    for (int i = 0; i < kQuad; ++i)
        if (column + i < o.columns) quad.element[i] = source[i];
    return quad;
}

// All are on their way before the first is used.
template <bool lines_are_rows, int align>
__device__ inline void load_quads(Vector<float, kQuad> (&quads)[kQuads], const float* matrix, const Operand& o, i64 row0, i64 column0) {
#pragma unroll
    for (int i = 0; i < kQuads; ++i) {
        const Place place = place_of_quad<lines_are_rows>(i);
        quads[i] = load_quad<align>(matrix, o, row0 + place.row, column0 + place.column);
    }
}

}  // namespace tmm::planes
