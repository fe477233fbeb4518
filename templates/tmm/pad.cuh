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

// A warp's piece of a row: neighbouring lanes take neighbouring chunks.
template <class T>
__device__ inline void copy_piece(const T* source, T* destination, const Matrix& matrix, i64 padded_ld, i64 piece) {
    constexpr int units = sizeof(T) / sizeof(Unit);
    const i64 length = chunks_of_row(matrix.columns * units);
    const i64 pieces = pieces_of_row(length);
    const i64 row = pieces > 1 ? piece / pieces : piece;
    const i64 first = (piece - row * pieces) * kPieceChunks;
    // The last piece of a row takes what is left of it.
    const int count = static_cast<int>(piece + 1 == (row + 1) * pieces ? length - first : kPieceChunks);
    const Unit* const begin = reinterpret_cast<const Unit*>(source);
    const Unit* const end = begin + ((matrix.rows - 1) * matrix.ld + matrix.columns) * units;
    const Unit* const from = begin + row * matrix.ld * units + first * kChunkElements;
    const int shift = shift_of(from);
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const Chunk* const chunk = reinterpret_cast<const Chunk*>(from - shift) + lane;
    Chunk* const to = reinterpret_cast<Chunk*>(destination + row * padded_ld) + first + lane;
    // What stands behind the row fills its last chunk.
    if (from - shift >= begin && from - shift + (count + 1) * kChunkElements <= end) {
        for (int i = 0; i < count; i += 32 * kChunksOfLane) {
            Chunks chunks[kChunksOfLane];
#pragma unroll
            for (int j = 0; j < kChunksOfLane; ++j)
                if (i + j * 32 + lane < count) chunks[j] = {chunk[i + j * 32], chunk[i + j * 32 + 1]};
#pragma unroll
            for (int j = 0; j < kChunksOfLane; ++j)
                if (i + j * 32 + lane < count) to[i + j * 32] = shifted(chunks[j], shift);
        }
    } else {
        for (int i = 0; i + lane < count; i += 32) {
            const Unit* const here = reinterpret_cast<const Unit*>(chunk + i);
            to[i] = shifted(Chunks{read_chunk(here, begin, end), read_chunk(here + kChunkElements, begin, end)}, shift);
        }
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
    const i64 pieces_a = pads_a(config) && !turn_a ? pieces(a.rows, a.columns, signature.type_a) : 0;
    const i64 pieces_b = pads_b(config) && !turn_b ? pieces(b.rows, b.columns, signature.type_b) : 0;
    const i64 of_a = pieces_a * args.batch;
    const i64 warp = threadIdx.x / 32;
    for (i64 piece = static_cast<i64>(blockIdx.x) * kWarps + warp; piece < of_a + pieces_b * args.batch;
         piece += static_cast<i64>(gridDim.x) * kWarps) {
        if (piece < of_a) {
            const i64 member = args.batch > 1 ? piece / pieces_a : 0;
            const i64 ld = padded_ld(a.columns, signature.type_a);
            copy_piece(static_cast<const A*>(args.a) + member * a.stride, reinterpret_cast<A*>(padded_a) + member * a.rows * ld, a, ld,
                       piece - member * pieces_a);
        } else {
            const i64 member = args.batch > 1 ? (piece - of_a) / pieces_b : 0;
            const i64 ld = padded_ld(b.columns, signature.type_b);
            copy_piece(static_cast<const B*>(args.b) + member * b.stride, reinterpret_cast<B*>(padded_b) + member * b.rows * ld, b, ld,
                       piece - of_a - member * pieces_b);
        }
    }
}

}  // namespace tmm::pad
