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

// An operand that is copied as it lies: columns and distances in units, the copy's rows so many chunks apart.
struct Operand {
    const Unit* source;
    Chunk* copy;
    Matrix matrix;
    i64 padded_ld;
};
__device__ inline Operand operand_of(const void* source, void* copy, const Matrix& matrix, ElementType type) {
    const int units = size_of(type) / static_cast<int>(sizeof(Unit));
    return {static_cast<const Unit*>(source), static_cast<Chunk*>(copy),
            Matrix{matrix.rows, matrix.columns * units, matrix.ld * units, matrix.stride * units},
            padded_ld(matrix.columns, type) * units / kChunkElements};
}

// A lane's chunks of a warp's piece, so far apart, and the matrix that nothing is read beyond. All begin as far from a multiple of 16
// bytes.
struct Piece {
    const Unit* from;
    Chunk* to;
    int count;
    i64 from_step;
    i64 to_step;
    const Unit* begin;
    const Unit* end;
};
__device__ inline Piece find_piece(const Operand& operand, unsigned number) {
    const Matrix& matrix = operand.matrix;
    const unsigned lane = threadIdx.x % 32;
    const unsigned length = chunks_of_row(matrix.columns);
    const auto rows = static_cast<unsigned>(matrix.rows);
    const unsigned of_matrix = pieces_of_matrix(rows, length);
    const unsigned member = number / of_matrix;
    const unsigned in_matrix = number % of_matrix;
    Piece piece;
    unsigned row;
    unsigned chunk;
    if (is_short_row(length)) {
        const int log2 = lanes_log2(length);
        const unsigned distance = rows_between_steps(length);
        const unsigned pieces = pieces_of_band(length);
        row = in_matrix / pieces * rows_of_band(length) + in_matrix % pieces * rows_side_by_side(length) + (lane >> log2);
        chunk = lane & ((1u << log2) - 1);
        const unsigned left = chunk < length && row < rows ? (rows - row + distance - 1) / distance : 0;
        piece.count = static_cast<int>(left < kChunksOfLane ? left : kChunksOfLane);
        piece.from_step = i64{distance} * matrix.ld;
        piece.to_step = i64{distance} * operand.padded_ld;
    } else {
        const unsigned pieces = pieces_of_row(length);
        const unsigned share = (length + pieces - 1) / pieces;
        row = in_matrix / pieces;
        const unsigned first = in_matrix % pieces * share;
        chunk = first + lane;
        const unsigned end = first + share < length ? first + share : length;
        piece.count = chunk < end ? static_cast<int>((end - chunk + 31) / 32) : 0;
        piece.from_step = 32 * kChunkElements;
        piece.to_step = 32;
    }
    piece.begin = operand.source + member * matrix.stride;
    piece.end = piece.begin + (matrix.rows - 1) * matrix.ld + matrix.columns;
    piece.from = piece.begin + row * matrix.ld + i64{chunk} * kChunkElements;
    piece.to = operand.copy + (member * matrix.rows + row) * operand.padded_ld + chunk;
    return piece;
}

// All of a lane's chunks are under way at once.
__device__ inline void copy_piece(const Piece& piece) {
    const int shift = shift_of(piece.from);
    const auto aligned = [&](int i) { return piece.from - shift + i * piece.from_step; };
    // Of both that a chunk comes from: all but the first of the first row and two of the last.
    const auto are_within = [&](int i) { return aligned(i) >= piece.begin && aligned(i) + 2 * kChunkElements <= piece.end; };
    Chunks chunks[kChunksOfLane];
#pragma unroll
    for (int i = 0; i < kChunksOfLane; ++i) {
        const Chunk* const chunk = reinterpret_cast<const Chunk*>(aligned(i));
        if (i < piece.count && are_within(i)) chunks[i] = {chunk[0], chunk[1]};
    }
    // What stands behind the row fills its last chunk.
#pragma unroll
    for (int i = 0; i < kChunksOfLane; ++i) {
        if (i < piece.count && are_within(i)) piece.to[i * piece.to_step] = shifted(chunks[i], shift);
    }
#pragma unroll 1
    for (int i = 0; i < piece.count; ++i) {
        if (are_within(i)) continue;
        const Unit* const chunk = aligned(i);
        const Chunks two{read_chunk(chunk, piece.begin, piece.end), read_chunk(chunk + kChunkElements, piece.begin, piece.end)};
        piece.to[i * piece.to_step] = shifted(two, shift);
    }
}

// Squares, each by a whole block. source: rows of `columns` elements; destination: rows of `rows`.
__device__ inline void turn(const float* source, float* destination, const Matrix& matrix, i64 batch, float* shared) {
    const pack::Operand operand{source, matrix.ld, matrix.stride, matrix.rows, matrix.columns, matrix.columns, destination};
    const unsigned squares = static_cast<unsigned>(pack::tiles(matrix.rows, matrix.columns, batch));
    for (unsigned number = blockIdx.x; number < squares; number += gridDim.x)
        pack::copy_square<true>(operand, pack::find_square<true>(operand, number), shared);
}

template <KernelSignature signature, KernelConfig config>
__device__ void kernel(const GemmArgs& args) {
    static_assert(first_violation(config, signature) == nullptr);
    constexpr bool a_lies_along_m = signature.op_a == Operation::transpose;
    constexpr bool b_lies_along_k = signature.op_b == Operation::transpose;
    constexpr bool turn_a = turns_a(config, signature);
    constexpr bool turn_b = turns_b(config, signature);
    const Matrix a{a_lies_along_m ? args.k : args.m, a_lies_along_m ? args.m : args.k, args.lda, args.stride_a};
    const Matrix b{b_lies_along_k ? args.n : args.k, b_lies_along_k ? args.k : args.n, args.ldb, args.stride_b};
    unsigned char* const padded_a = static_cast<unsigned char*>(args.workspace);
    const i64 bytes_a = padded_bytes(turn_a ? a.columns : a.rows, turn_a ? a.rows : a.columns, args.batch, signature.type_a);
    unsigned char* const padded_b = padded_a + (pads_a(config) ? bytes_a : 0);
    const i64 pieces_a = pads_a(config) && !turn_a ? pieces(a.rows, a.columns, args.batch, signature.type_a) : 0;
    const i64 pieces_b = pads_b(config) && !turn_b ? pieces(b.rows, b.columns, args.batch, signature.type_b) : 0;
    const i64 number = static_cast<i64>(blockIdx.x) * kWarps + threadIdx.x / 32;
    const bool of_a = number < pieces_a;
    // Found while the kernel before this one ends.
    Piece piece = {};
    if (number < pieces_a + pieces_b)
        piece = find_piece(of_a ? operand_of(args.a, padded_a, a, signature.type_a) : operand_of(args.b, padded_b, b, signature.type_b),
                           static_cast<unsigned>(of_a ? number : number - pieces_a));
    wait_for_previous_kernel();
    copy_piece(piece);
    if constexpr (turn_a || turn_b) {
        SharedMemory shared;
        float* const square = shared.take<float, pack::kTile*(pack::kTile + 1)>()[0];
        if constexpr (turn_a) turn(static_cast<const float*>(args.a), reinterpret_cast<float*>(padded_a), a, args.batch, square);
        if constexpr (turn_b) turn(static_cast<const float*>(args.b), reinterpret_cast<float*>(padded_b), b, args.batch, square);
    }
}

}  // namespace tmm::pad
