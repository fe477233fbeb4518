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

// A warp's piece of a row, of `count` chunks, and its matrix.
struct Piece {
    const Unit* from;
    Chunk* to;
    int count;
    const Unit* begin;
    const Unit* end;
};
__device__ inline Piece find_piece(const Operand& operand, i64 batch, i64 number) {
    const Matrix& matrix = operand.matrix;
    const unsigned length = static_cast<unsigned>(chunks_of_row(matrix.columns));
    const unsigned pieces = pieces_of_row(length);
    const unsigned share = pieces > 1 ? (length + pieces - 1) / pieces : length;
    const i64 row_of_batch = pieces > 1 ? number / pieces : number;
    const unsigned first = static_cast<unsigned>(number - row_of_batch * pieces) * share;
    const i64 member = batch > 1 ? row_of_batch / matrix.rows : 0;
    const i64 row = row_of_batch - member * matrix.rows;
    const Unit* const begin = operand.source + member * matrix.stride;
    return {begin + row * matrix.ld + i64{first} * kChunkElements, operand.copy + row_of_batch * operand.padded_ld + first,
            static_cast<int>(length - first < share ? length - first : share), begin,
            begin + (matrix.rows - 1) * matrix.ld + matrix.columns};
}

// Neighbouring lanes take neighbouring chunks, all of them under way at once.
__device__ inline void copy_piece(const Piece& piece) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int shift = shift_of(piece.from);
    const Unit* const aligned = piece.from - shift;
    // Chunks whose two in the matrix lie within it: all but the first of the first row and two of the last.
    const int first_within = aligned < piece.begin ? 1 : 0;
    const i64 until_end = (piece.end - aligned) / kChunkElements - 1;
    const int end_within = until_end < first_within ? first_within : until_end < piece.count ? static_cast<int>(until_end) : piece.count;
    Chunks chunks[kChunksOfLane];
#pragma unroll
    for (int i = 0; i < kChunksOfLane; ++i) {
        const int place = i * 32 + lane;
        const Chunk* const chunk = reinterpret_cast<const Chunk*>(aligned) + place;
        if (place >= first_within && place < end_within) chunks[i] = {chunk[0], chunk[1]};
    }
    // What stands behind the row fills its last chunk.
#pragma unroll
    for (int i = 0; i < kChunksOfLane; ++i) {
        const int place = i * 32 + lane;
        if (place >= first_within && place < end_within) piece.to[place] = shifted(chunks[i], shift);
    }
    const int place = lane < first_within ? lane : end_within + lane - first_within;
    if (place < piece.count) {
        const Unit* const chunk = aligned + place * kChunkElements;
        const Chunks two{read_chunk(chunk, piece.begin, piece.end), read_chunk(chunk + kChunkElements, piece.begin, piece.end)};
        piece.to[place] = shifted(two, shift);
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
    const auto piece = [&](i64 number) {
        const bool of_a = number < pieces_a;
        return find_piece(of_a ? operand_of(args.a, padded_a, a, signature.type_a) : operand_of(args.b, padded_b, b, signature.type_b),
                          args.batch, of_a ? number : number - pieces_a);
    };
    i64 number = static_cast<i64>(blockIdx.x) * kWarps + threadIdx.x / 32;
    const i64 step = static_cast<i64>(gridDim.x) * kWarps;
    // Found while the kernel before this one ends.
    Piece here = number < pieces_a + pieces_b ? piece(number) : Piece{};
    wait_for_previous_kernel();
    if constexpr (turn_a || turn_b) {
        SharedMemory shared;
        float* const square = shared.take<float, pack::kTile*(pack::kTile + 1)>()[0];
        if constexpr (turn_a) turn(static_cast<const float*>(args.a), reinterpret_cast<float*>(padded_a), a, args.batch, square);
        if constexpr (turn_b) turn(static_cast<const float*>(args.b), reinterpret_cast<float*>(padded_b), b, args.batch, square);
    }
    while (number < pieces_a + pieces_b) {
        copy_piece(here);
        number += step;
        if (number < pieces_a + pieces_b) here = piece(number);
    }
}

}  // namespace tmm::pad
