// What a pad kernel needs and allows (pad.cuh), and where it leaves the operands.
#pragma once

#include "tmm/config.h"
#include "tmm/pack.h"
#include "tmm/signature.h"

namespace tmm::pad {

constexpr int kWarps = 8;
// That an SM should hold. They leave a thread 80 registers: some of what stays the same from piece to piece is kept in memory.
constexpr int kBlocksPerSm = 3;
// Of 16 bytes, that a lane copies at once: five, so that a row of little more than 2048 elements is two pieces.
constexpr int kChunksOfLane = 5;

constexpr bool pads_a(const KernelConfig& c) {
    return (c.pack_ab & 1) != 0;
}
constexpr bool pads_b(const KernelConfig& c) {
    return (c.pack_ab & 2) != 0;
}

// Of tf32 wgmma reads shared memory along K only: an operand whose rows run along M or N is turned when it is copied.
constexpr bool turns_a(const KernelConfig& c, const KernelSignature& s) {
    return pads_a(c) && s.compute == ComputeMode::tf32 && s.op_a == Operation::transpose;
}
constexpr bool turns_b(const KernelConfig& c, const KernelSignature& s) {
    return pads_b(c) && s.compute == ComputeMode::tf32 && s.op_b == Operation::none;
}

// A copied operand's matrix.
struct Shape {
    i64 rows;
    i64 columns;
};
constexpr Shape copy_of_a(const GemmProblem& p) {
    return p.compute == ComputeMode::tf32 ? Shape{p.m, p.k} : Shape{stored_rows_a(p), stored_columns_a(p)};
}
constexpr Shape copy_of_b(const GemmProblem& p) {
    return p.compute == ComputeMode::tf32 ? Shape{p.n, p.k} : Shape{stored_rows_b(p), stored_columns_b(p)};
}

// Elements from one row to the next: rows start at multiples of the 16 bytes that TMA wants, and rows of several lines of 128 bytes at
// multiples of those, so that none of their boxes needs two lines where one would do; but those of floats, which pack may turn,
// only at multiples of 16.
constexpr i64 padded_ld(i64 columns, ElementType type) {
    const i64 unit = (columns * size_of(type) < 512 || !is_16_bit(type) ? 16 : 128) / size_of(type);
    return (columns + unit - 1) / unit * unit;
}
// In the workspace A stands first, then B; each a batch of matrices without gaps but the rows' own padding. Both parts start at
// multiples of 256 bytes.
constexpr i64 padded_bytes(i64 rows, i64 columns, i64 batch, ElementType type) {
    return (batch * rows * padded_ld(columns, type) * size_of(type) + 255) / 256 * 256;
}

constexpr int threads(const KernelConfig&) {
    return kWarps * 32;
}
// A square that is turned.
constexpr i64 shared_bytes(const KernelConfig& c, const KernelSignature& s) {
    return turns_a(c, s) || turns_b(c, s) ? pack::shared_bytes(c, s) : 0;
}

constexpr const char* first_violation(const KernelConfig& c, const KernelSignature& s) {
    if (s.type_a == ElementType::f64) return "pad copies elements of up to 4 bytes";
    if (s.compute == ComputeMode::tf32 && (s.type_a != ElementType::f32 || s.type_b != ElementType::f32)) return "tf32 is made of floats";
    if (c.pack_ab < 1 || c.pack_ab > 3) return "pad's pack_ab is 1 to 3";
    if (!uses_only(c, &KernelConfig::pack_ab, &KernelConfig::boundary, &KernelConfig::min_blocks))
        return "pad uses pack_ab and min_blocks only";
    return nullptr;
}

// Of a row of so many 16 bits.
constexpr unsigned chunks_of_row(i64 units) {
    return static_cast<unsigned>((units + 7) / 8);
}
// A warp copies one piece, in steps of 32 chunks: of a long row as many neighbours as of its other pieces; or short rows, some side by side
// and others below. Rows that are a multiple of 8 apart begin alike, however far from a multiple of 16 bytes.
//
//     rows of 11 chunks:   lanes 0 ... 15   lanes 16 ... 31
//                  step 0:      row 0            row 1
//                  step 1:      row 8            row 9         …
constexpr unsigned pieces_of_row(unsigned chunks) {
    return (chunks + 32 * kChunksOfLane - 1) / (32 * kChunksOfLane);
}
constexpr bool is_short_row(unsigned chunks) {
    return chunks <= 32;
}
// Of a short row: the lanes that it gets, a power of two.
constexpr int lanes_log2(unsigned chunks) {
    int log2 = 0;
    while (1u << log2 < chunks) ++log2;
    return log2;
}
constexpr unsigned rows_side_by_side(unsigned chunks) {
    return 32u >> lanes_log2(chunks);
}
constexpr unsigned rows_between_steps(unsigned chunks) {
    return rows_side_by_side(chunks) < 8 ? 8 : rows_side_by_side(chunks);
}
// Rows that whole pieces take, and those pieces.
constexpr unsigned rows_of_band(unsigned chunks) {
    return kChunksOfLane * rows_between_steps(chunks);
}
constexpr unsigned pieces_of_band(unsigned chunks) {
    return rows_between_steps(chunks) / rows_side_by_side(chunks);
}
constexpr unsigned pieces_of_matrix(unsigned rows, unsigned chunks) {
    return is_short_row(chunks) ? (rows + rows_of_band(chunks) - 1) / rows_of_band(chunks) * pieces_of_band(chunks)
                                : rows * pieces_of_row(chunks);
}
// Each with 16 bytes of the workspace at least, so that 32 bits count them.
constexpr i64 pieces(i64 rows, i64 columns, i64 batch, ElementType type) {
    return batch * pieces_of_matrix(static_cast<unsigned>(rows), chunks_of_row(columns * size_of(type) / 2));
}
// A warp for each piece; and blocks walk over the squares that are turned.
constexpr i64 blocks(i64 pieces, i64 squares) {
    const i64 for_pieces = (pieces + kWarps - 1) / kWarps;
    const i64 needed = for_pieces > squares ? for_pieces : squares;
    return needed < 1 ? 1 : needed < 2147483647 ? needed : 2147483647;
}

}  // namespace tmm::pad
