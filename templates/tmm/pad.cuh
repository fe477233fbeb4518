// The first step of a product whose rows TMA can't bring, since they do not start at multiples of 16 bytes: copies A, B or both into
// the workspace as they lie, each row at such a multiple.
//
//     ld = 5:  a a a a a b b b b b c c c c c        padded:  a a a a a . . .
//                                             ----->         b b b b b . . .
//                                                            c c c c c . . .
//
// Of tf32 wgmma wants rows along K. Where they run along M or N, the copy turns the matrix.
#pragma once

#include "tmm/args.h"
#include "tmm/chunks.cuh"
#include "tmm/element.cuh"
#include "tmm/pack.cuh"
#include "tmm/pad.h"
#include "tmm/previous_kernel.cuh"

namespace tmm::pad {

// A stored matrix of the batch.
struct Matrix {
    i64 rows;
    i64 columns;
    i64 ld;
    i64 stride;
};

// Rows are copied 16 bits after the other, whatever they hold, in chunks (chunks.cuh): the last one of a row fills it up to a multiple of
// 16 bytes.
using Unit = Element<ElementType::f16>;

template <class T>
__device__ inline void copy_piece(const T* source, T* destination, const Matrix& matrix, i64 batch, i64 padded_ld, i64 piece) {
    constexpr int units = sizeof(T) / sizeof(Unit);
    constexpr int step = 32 * kChunkElements;
    constexpr int steps = kPieceUnits / step;
    const i64 pieces_per_row = (matrix.columns * units + kPieceUnits - 1) / kPieceUnits;
    const i64 row = piece / pieces_per_row;
    const i64 member = row / matrix.rows;
    const i64 column = (piece - row * pieces_per_row) * kPieceUnits + threadIdx.x % 32 * kChunkElements;
    const Unit* const begin = reinterpret_cast<const Unit*>(source);
    const Unit* const end = begin + ((batch - 1) * matrix.stride + (matrix.rows - 1) * matrix.ld + matrix.columns) * units;
    const Unit* const from = begin + (member * matrix.stride + (row - member * matrix.rows) * matrix.ld) * units + column;
    Unit* const to = reinterpret_cast<Unit*>(destination + row * padded_ld) + column;
    const int shift = shift_of(from);
    const i64 left = matrix.columns * units - column;
    Chunks chunks[steps];
#pragma unroll
    for (int i = 0; i < steps; ++i) {
        if (i * step >= left) break;
        const Unit* const chunk = from + i * step - shift;
        chunks[i].first = read_chunk(chunk, begin, end);
        chunks[i].second = shift > 0 && shift + left - i * step > kChunkElements ? read_chunk(chunk + kChunkElements, begin, end) : Chunk{};
    }
#pragma unroll
    for (int i = 0; i < steps; ++i) {
        if (i * step >= left) break;
        *reinterpret_cast<Chunk*>(to + i * step) = shifted(chunks[i], shift);
    }
}

// Squares, each by a whole block. source: rows of `columns` elements; destination: rows of `rows`.
__device__ inline void turn(const float* source, float* destination, const Matrix& matrix, i64 batch, float* square) {
    const i64 squares = pack::tiles(matrix.rows, matrix.columns, batch);
    for (i64 index = blockIdx.x; index < squares; index += gridDim.x)
        pack::pack_tile<true>(source, matrix.ld, matrix.stride, matrix.rows, matrix.columns, matrix.columns, index, destination, square);
}

template <KernelSignature signature, KernelConfig config>
__device__ void kernel(const GemmArgs& args) {
    static_assert(first_violation(config, signature) == nullptr);
    wait_for_previous_kernel();
    using A = Element<signature.type_a>;
    using B = Element<signature.type_b>;
    constexpr bool a_lies_along_m = signature.op_a == Operation::transpose;
    constexpr bool b_lies_along_k = signature.op_b == Operation::transpose;
    constexpr bool turn_a = turns_a(config, signature);
    constexpr bool turn_b = turns_b(config, signature);
    const Matrix a{a_lies_along_m ? args.k : args.m, a_lies_along_m ? args.m : args.k, args.lda, args.stride_a};
    const Matrix b{b_lies_along_k ? args.n : args.k, b_lies_along_k ? args.k : args.n, args.ldb, args.stride_b};
    unsigned char* const padded_a = static_cast<unsigned char*>(args.workspace);
    const i64 bytes_a = padded_bytes(turn_a ? a.columns : a.rows, turn_a ? a.rows : a.columns, args.batch, signature.type_a);
    unsigned char* const padded_b = padded_a + (pads_a(config) ? bytes_a : 0);
    if constexpr (turn_a || turn_b) {
        SharedMemory shared;
        float* const square = shared.take<float, pack::kTile*(pack::kTile + 1)>()[0];
        if constexpr (turn_a) turn(static_cast<const float*>(args.a), reinterpret_cast<float*>(padded_a), a, args.batch, square);
        if constexpr (turn_b) turn(static_cast<const float*>(args.b), reinterpret_cast<float*>(padded_b), b, args.batch, square);
    }
    const i64 pieces_a = pads_a(config) && !turn_a ? pieces(a.rows, a.columns, args.batch, signature.type_a) : 0;
    const i64 pieces_b = pads_b(config) && !turn_b ? pieces(b.rows, b.columns, args.batch, signature.type_b) : 0;
    const i64 warp = threadIdx.x / 32;
    for (i64 piece = static_cast<i64>(blockIdx.x) * kWarps + warp; piece < pieces_a + pieces_b;
         piece += static_cast<i64>(gridDim.x) * kWarps) {
        if (piece < pieces_a)
            copy_piece(static_cast<const A*>(args.a), reinterpret_cast<A*>(padded_a), a, args.batch, padded_ld(a.columns, signature.type_a),
                       piece);
        else
            copy_piece(static_cast<const B*>(args.b), reinterpret_cast<B*>(padded_b), b, args.batch, padded_ld(b.columns, signature.type_b),
                       piece - pieces_a);
    }
}

}  // namespace tmm::pad
