// This file says what a pad kernel needs and allows (kernel.cuh), and where it leaves the operands.
#pragma once

#include "tmm/steps/pack/rules.h"
#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// An operand that is copied as it lies, unit after unit (unit_bytes), whatever they hold: its batch of matrices, and how they are cut into
// pieces, each of which a warp copies in steps of 32 chunks of 16 bytes. Pieces are parts of a long row; or short rows, some side by side
// and others below. Rows that are as many apart as a chunk has units, 8 or 16, begin alike, however far from a multiple of 16 bytes.
//
//     rows of 11 chunks:   lanes 0 ... 15   lanes 16 ... 31
//                  step 0:      row 0            row 1
//                  step 1:      row 8            row 9         …
struct PadOperand {
    const void* source = nullptr;
    void* copy = nullptr;
    i64 rows = 0;
    i64 ld = 0;
    i64 stride = 0;
    // Units from a matrix's first to its end.
    i64 extent = 0;
    // The leading dimension of the copy, in chunks.
    i64 copy_ld = 0;
    // Distance from a lane's chunk to its next one: in the matrix, in units, and in the copy, in chunks.
    i64 step = 0;
    i64 copy_step = 0;
    unsigned chunks_of_row = 0;
    // The number of all pieces; 0 where the operand is not copied in pieces.
    unsigned pieces = 0;
    unsigned pieces_of_matrix = 1;
    // A band is a long row, or as many short rows as its pieces take together, where each piece is all steps long.
    unsigned pieces_of_band = 1;
    unsigned rows_of_band = 1;
    // Chunks of a piece along its row; the last piece of a row may have fewer.
    unsigned chunks_of_piece = 0;
    // The binary logarithm of the number of lanes that a row gets.
    int lanes_log2 = 5;
    // Rows from one step to the next where rows are short; 0 where they are long, and a step goes on in its row, by 32 chunks.
    int rows_between_steps = 0;
};

// The head's workspace is not used: the copies' places stand in `operands`, A's and B's, those that are turned as well.
struct PadArgs : GemmArgs {
    PadOperand operands[2];
};

// The kernel that copies operands to where their rows are aligned.
struct Pad {
    // The operands that it copies.
    bool a = false;
    bool b = false;

    friend constexpr bool operator==(const Pad&, const Pad&) = default;
};

}  // namespace tmm

namespace tmm::pad {

constexpr int kWarps = 8;
// Blocks that an SM should hold. They leave a thread 80 registers.
constexpr int kBlocksPerSm = 3;
// Chunks of 16 bytes that a lane copies at once: five, so that a row of little more than 2048 elements is two pieces.
constexpr int kChunksOfLane = 5;

// The copies that a product's config wants.
constexpr bool pads_a(const KernelConfig& c) {
    return (c.pack_ab & 1) != 0;
}
constexpr bool pads_b(const KernelConfig& c) {
    return (c.pack_ab & 2) != 0;
}
constexpr Pad step_for(const KernelConfig& c) {
    return {.a = pads_a(c), .b = pads_b(c)};
}

// Elements are copied as they lie by 16 bits, or by bytes where they are bytes. So many units make an element, and a chunk.
constexpr int unit_bytes(ElementType type) {
    return size_of(type) < 2 ? 1 : 2;
}
constexpr int units_of_element(ElementType type) {
    return size_of(type) / unit_bytes(type);
}
constexpr int units_of_chunk(ElementType type) {
    return 16 / unit_bytes(type);
}

// What wgmma takes along K only (is_k_major_only) is turned when it is copied, where its rows run along M or N.
constexpr bool turns_a(const Pad& p, const KernelSignature& s) {
    return p.a && is_k_major_only(s.type_a) && s.op_a == Operation::transpose;
}
constexpr bool turns_b(const Pad& p, const KernelSignature& s) {
    return p.b && is_k_major_only(s.type_b) && s.op_b == Operation::none;
}

// Rows and columns of the matrix that an operand is copied to.
struct Shape {
    i64 rows;
    i64 columns;
};
constexpr Shape copy_of_a(const GemmProblem& p) {
    return is_k_major_only(p.type_a) ? Shape{p.m, p.k} : Shape{stored_rows_a(p), stored_columns_a(p)};
}
constexpr Shape copy_of_b(const GemmProblem& p) {
    return is_k_major_only(p.type_b) ? Shape{p.n, p.k} : Shape{stored_rows_b(p), stored_columns_b(p)};
}

// Rows and columns of a square of bytes that a block turns (turn_bytes.cuh). Floats are turned in squares of pack.
constexpr int kByteSquare = 128;
constexpr i64 squares(const Shape& copy, i64 batch, ElementType type) {
    if (size_of(type) != 1) return pack::tiles(copy.columns, copy.rows, batch);
    return (copy.rows + kByteSquare - 1) / kByteSquare * ((copy.columns + kByteSquare - 1) / kByteSquare) * batch;
}

// Elements from one row to the next: rows start at multiples of the 16 bytes that TMA wants, and rows of several lines of 128 bytes at
// multiples of those, so that none of their boxes needs two lines where one would do; but rows of floats, which pack may turn, start only
// at multiples of 16 bytes.
constexpr i64 padded_ld(i64 columns, ElementType type) {
    const i64 unit = (columns * size_of(type) < 512 || type == ElementType::f32 ? 16 : 128) / size_of(type);
    return (columns + unit - 1) / unit * unit;
}
// In the workspace A stands first, then B; each is a batch of matrices without gaps but the rows' own padding. Both parts start at
// multiples of 256 bytes.
constexpr i64 padded_bytes(i64 rows, i64 columns, i64 batch, ElementType type) {
    return (batch * rows * padded_ld(columns, type) * size_of(type) + 255) / 256 * 256;
}

constexpr int threads(const Pad&) {
    return kWarps * 32;
}
// The shared memory holds a square where an operand is turned.
constexpr i64 shared_bytes(const Pad& p, const KernelSignature& s) {
    if (!turns_a(p, s) && !turns_b(p, s)) return 0;
    return size_of(s.type_a) == 1 ? shared_tile_bytes(s.type_a, kByteSquare * kByteSquare) : pack::square_bytes(s.type_a);
}

constexpr const char* first_violation(const Pad& p, const KernelSignature& s) {
    if (s.type_a == ElementType::f64) return "pad copies elements of up to 4 bytes";
    if (s.compute == ComputeMode::tf32 && (s.type_a != ElementType::f32 || s.type_b != ElementType::f32)) return "tf32 is made of floats";
    if (!p.a && !p.b) return "pad copies A, B or both";
    return nullptr;
}

// Cuts matrices of elements of the type into pieces. ld and copy_ld: the leading dimensions of the matrix and of its copy, in elements.
constexpr PadOperand cut(ElementType type, i64 rows, i64 columns, i64 batch, i64 ld, i64 copy_ld) {
    const int chunk = units_of_chunk(type);
    columns *= units_of_element(type);
    ld *= units_of_element(type);
    copy_ld *= units_of_element(type);
    constexpr unsigned at_once = 32 * kChunksOfLane;
    PadOperand cut;
    cut.rows = rows;
    cut.ld = ld;
    cut.extent = (rows - 1) * ld + columns;
    cut.copy_ld = copy_ld / chunk;
    cut.chunks_of_row = static_cast<unsigned>((columns + chunk - 1) / chunk);
    if (cut.chunks_of_row > 32) {
        cut.pieces_of_band = (cut.chunks_of_row + at_once - 1) / at_once;
        cut.chunks_of_piece = (cut.chunks_of_row + cut.pieces_of_band - 1) / cut.pieces_of_band;
        cut.step = 32 * chunk;
        cut.copy_step = 32;
    } else {
        cut.lanes_log2 = 0;
        while (1u << cut.lanes_log2 < cut.chunks_of_row) ++cut.lanes_log2;
        const int side_by_side = 32 >> cut.lanes_log2;
        // Rows that are so many apart begin alike.
        cut.rows_between_steps = side_by_side < chunk ? chunk : side_by_side;
        cut.pieces_of_band = static_cast<unsigned>(cut.rows_between_steps / side_by_side);
        cut.rows_of_band = static_cast<unsigned>(kChunksOfLane * cut.rows_between_steps);
        cut.chunks_of_piece = cut.chunks_of_row;
        cut.step = cut.rows_between_steps * ld;
        cut.copy_step = cut.rows_between_steps * cut.copy_ld;
    }
    cut.pieces_of_matrix = (static_cast<unsigned>(rows) + cut.rows_of_band - 1) / cut.rows_of_band * cut.pieces_of_band;
    // A plan's workspace has room for so many rows only that 32 bits count them.
    cut.pieces = static_cast<unsigned>(batch) * cut.pieces_of_matrix;
    return cut;
}
// There is a warp for each piece, and a block for each square that is turned, of the operand that has more of them.
constexpr i64 blocks(i64 pieces, i64 squares) {
    const i64 for_pieces = (pieces + kWarps - 1) / kWarps;
    const i64 needed = for_pieces > squares ? for_pieces : squares;
    return needed < 1 ? 1 : needed;
}

}  // namespace tmm::pad
