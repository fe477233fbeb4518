// The first step of a product whose rows TMA can't bring, since they do not start at multiples of 16 bytes: copies A, B or both into
// the workspace as they lie, each row at such a multiple.
//
//     ld = 5:  a a a a a b b b b b c c c c c        padded:  a a a a a . . .
//                                             ----->         b b b b b . . .
//                                                            c c c c c . . .
//
// wgmma needs rows along K of all but 16-bit matrices. Where they run along M or N, the copy turns the matrix.
#pragma once

#include "tmm/copy/chunks.cuh"
#include "tmm/copy/previous_kernel.cuh"
#include "tmm/number/element.cuh"
#include "tmm/ptx.cuh"
#include "tmm/steps/pack/kernel.cuh"
#include "tmm/steps/pad/rules.h"
#include "tmm/steps/pad/turn_bytes.cuh"
#include "tmm/vocabulary/args.h"

namespace tmm::pad {

// What is copied as it lies (unit_bytes).
template <ElementType type>
using UnitOf = Element<unit_bytes(type) == 1 ? ElementType::s8 : ElementType::f16>;

// A lane's chunks of a warp's piece. The chunks from `inside` to `inside_end` come from two chunks that lie within the matrix: these are
// all but the first chunk of the matrix's first row and the last chunks.
template <class Unit>
struct Piece {
    const Unit* from;
    Chunk* to;
    int count;
    int inside;
    int inside_end;
    const Unit* begin;
    const Unit* end;
};
template <class Unit>
__device__ inline Piece<Unit> find_piece(const PadOperand& operand, i64 batch, unsigned number) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned member = batch > 1 ? number / operand.pieces_of_matrix : 0;
    const unsigned in_matrix = number - member * operand.pieces_of_matrix;
    const unsigned band = operand.pieces_of_band > 1 ? in_matrix / operand.pieces_of_band : in_matrix;
    const unsigned part = in_matrix - band * operand.pieces_of_band;
    const bool is_short = operand.rows_between_steps != 0;
    // The lane's row among the rows side by side, and its place in that row's part of the piece.
    const unsigned beside = lane >> operand.lanes_log2;
    const unsigned place = lane - (beside << operand.lanes_log2);
    const unsigned row = band * operand.rows_of_band + (is_short ? part << (5 - operand.lanes_log2) : 0) + beside;
    const unsigned chunk = (is_short ? 0 : part * operand.chunks_of_piece) + place;
    const int left_of_row = static_cast<int>(operand.chunks_of_row - chunk);
    const int left_of_piece = static_cast<int>(operand.chunks_of_piece - place);
    const int chunks_left = left_of_row < left_of_piece ? left_of_row : left_of_piece;
    const int rows_left = static_cast<int>(operand.rows) - static_cast<int>(row);
    const int distance = is_short ? operand.rows_between_steps : 32;
    constexpr int chunk_units = elements_of_chunk<Unit>;
    Piece<Unit> piece;
    piece.count = 0;
#pragma unroll
    for (int i = 0; i < kChunksOfLane; ++i) piece.count += chunks_left > 0 && i * distance < (is_short ? rows_left : chunks_left) ? 1 : 0;
    piece.begin = static_cast<const Unit*>(operand.source) + member * operand.stride;
    piece.end = piece.begin + operand.extent;
    piece.from = piece.begin + row * operand.ld + i64{chunk} * chunk_units;
    piece.to = static_cast<Chunk*>(operand.copy) + (member * operand.rows + row) * operand.copy_ld + chunk;
    const Unit* const aligned = piece.from - shift_of(piece.from);
    piece.inside = aligned < piece.begin ? 1 : 0;
    piece.inside_end = piece.count;
    while (piece.inside_end > piece.inside && aligned + (piece.inside_end - 1) * operand.step + 2 * chunk_units > piece.end)
        --piece.inside_end;
    return piece;
}

// All of a lane's chunks are under way at once, and may leave the L2 cache before all else: they are read once.
template <class Unit>
__device__ inline void copy_piece(const PadOperand& operand, const Piece<Unit>& piece) {
    constexpr int chunk_units = elements_of_chunk<Unit>;
    constexpr int bytes = static_cast<int>(sizeof(Unit));
    const int shift = shift_of(piece.from);
    const Unit* const aligned = piece.from - shift;
    Chunks chunks[kChunksOfLane];
#pragma unroll
    for (int i = 0; i < kChunksOfLane; ++i) {
        const Unit* const first = aligned + i * operand.step;
        if (i >= piece.inside && i < piece.inside_end) {
            ptx::ld_global_evict_first(chunks[i].first.element, first);
            ptx::ld_global_evict_first(chunks[i].second.element, first + chunk_units);
        }
    }
    // What stands behind the row fills its last chunk.
#pragma unroll
    for (int i = 0; i < kChunksOfLane; ++i) {
        if (i >= piece.inside && i < piece.inside_end) ptx::st(piece.to + i * operand.copy_step, shifted<bytes>(chunks[i], shift));
    }
#pragma unroll 1
    for (int i = 0; i < piece.count; ++i) {
        if (i >= piece.inside && i < piece.inside_end) continue;
        const Unit* const chunk = aligned + i * operand.step;
        const Chunks two{read_chunk(chunk, piece.begin, piece.end), read_chunk(chunk + chunk_units, piece.begin, piece.end)};
        ptx::st(piece.to + i * operand.copy_step, shifted<bytes>(two, shift));
    }
}

// Turns the block's square of a matrix. source: rows of `columns` elements; the copy: rows of `rows` elements.
__device__ inline void turn_floats(const void* source, i64 rows, i64 columns, i64 ld, i64 stride, i64 batch, void* copy, float* shared) {
    const pack::Operand<float> operand{static_cast<const float*>(source), ld, stride, rows, columns, columns, columns, columns,
                                       static_cast<float*>(copy)};
    const unsigned squares = static_cast<unsigned>(pack::tiles(rows, columns, batch));
    if (blockIdx.x < squares)
        pack::copy_square<true, false>(operand, pack::find_square<true>(operand, blockIdx.x), {.turning = shared, .few = nullptr});
}

template <class Kernel>
__device__ void kernel(const PadArgs& args) {
    static_assert(first_violation(Kernel::step, Kernel::signature) == nullptr);
    const unsigned number = blockIdx.x * kWarps + threadIdx.x / 32;
    const unsigned pieces_a = args.operands[0].pieces;
    const bool of_a = number < pieces_a;
    // The warp's piece is found while the kernel before this one ends.
    const PadOperand& operand = args.operands[of_a ? 0 : 1];
    using Unit = UnitOf<Kernel::signature.type_a>;
    Piece<Unit> piece = {};
    if (number < pieces_a + args.operands[1].pieces) piece = find_piece<Unit>(operand, args.batch, of_a ? number : number - pieces_a);
    wait_for_previous_kernel();
    copy_piece(operand, piece);
    if constexpr (turns_a(Kernel::step, Kernel::signature) || turns_b(Kernel::step, Kernel::signature)) {
        SharedMemory shared;
        const auto turn_both = [&](auto* square, auto&& turn) {
            if constexpr (turns_a(Kernel::step, Kernel::signature))
                turn(args.a, args.k, args.m, args.lda, args.stride_a, args.batch, args.operands[0].copy, square);
            if constexpr (turns_b(Kernel::step, Kernel::signature))
                turn(args.b, args.k, args.n, args.ldb, args.stride_b, args.batch, args.operands[1].copy, square);
        };
        if constexpr (size_of(Kernel::signature.type_a) == 1)
            turn_both(shared.take<unsigned, kByteSquare * kByteSquare / 4>()[0], [](auto... of) { turn_bytes(of...); });
        else
            turn_both(shared.take<float, pack::kTile*(pack::kTile + 1)>()[0], [](auto... of) { turn_floats(of...); });
    }
}

}  // namespace tmm::pad
