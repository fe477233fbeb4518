// How floats stand as 16-bit planes (planes.cuh), and where: what the kernels that write them, those that multiply them
// (wgmma_planes.cuh) and the host agree on.
//
// A line is what a scale belongs to: a row of op(A), a column of op(B). Each line is divided by a power of two, its exponent, such that
// its largest element is near 2^top; then an element x is
//
//     2 planes:  x = h + 2^-11 l      h, l in f16:     11 + 11 bits
//     3 planes:  x = h + m + l        h, m, l in bf16: 8 + 8 + 8 bits
//
// Elements much smaller than their line's largest are short: their last plane has lost bits to its least exponent. Lines with more than
// a few of them, and those with Inf or NaN, are unfit.
#pragma once

#include "tmm/args.h"
#include "tmm/config.h"
#include "tmm/pad.h"
#include "tmm/shared_layout.h"
#include "tmm/signature.h"

namespace tmm {

// Of an operand that is not to be split, since it stands prepared, all are null.
struct PlanesOperand {
    // The bits of the largest magnitude in each part of a line: [batch][chunk][line].
    unsigned* largest = nullptr;
    // [batch][line].
    int* exponents = nullptr;
    // As the operand lies, rows padded as those of pad are: [batch][plane][row][column].
    void* planes = nullptr;
    // Not 0 where a line is unfit.
    unsigned* unfit = nullptr;
};

struct PlanesArgs : GemmArgs {
    PlanesOperand planes_a;
    PlanesOperand planes_b;
};

}  // namespace tmm

namespace tmm::planes {

constexpr ElementType type_of(int planes) {
    return planes == 2 ? ElementType::f16 : ElementType::bf16;
}
// Of a line's largest element when the line has been divided. The sums of K products of such elements stay far from overflow.
constexpr int top_exponent(int planes) {
    return planes == 2 ? 14 : 40;
}
// An element is short below this one: where l's last bit would stand below what its type holds.
constexpr int least_exponent(int planes) {
    return planes == 2 ? -13 : -108;
}
// Of the elements that a thread splits, so many may be short: of any data, a few are.
constexpr int kMostShort = 1;

// Blocks go through an operand in tiles of its stored form, a thread through 8 quads of neighbouring elements.
constexpr int kTileRows = 64;
constexpr int kTileColumns = 128;
constexpr int kQuad = 4;
constexpr int kQuads = 8;
constexpr int kThreads = kTileRows * kTileColumns / (kQuad * kQuads);
constexpr int kMostChunks = 32;

// A stored operand. Its lines are its rows, or, where they run across, its columns.
struct Operand {
    i64 rows;
    i64 columns;
    i64 ld;
    i64 stride;
    i64 matrices;
    bool lines_are_rows;
};
constexpr Operand operand_a(const GemmArgs& g, const KernelSignature& s) {
    const bool turned = s.op_a == Operation::transpose;
    return Operand{turned ? g.k : g.m, turned ? g.m : g.k, g.lda, g.stride_a, g.batch > 1 && g.stride_a != 0 ? g.batch : 1, !turned};
}
constexpr Operand operand_b(const GemmArgs& g, const KernelSignature& s) {
    const bool turned = s.op_b == Operation::transpose;
    return Operand{turned ? g.n : g.k, turned ? g.k : g.n, g.ldb, g.stride_b, g.batch > 1 && g.stride_b != 0 ? g.batch : 1, turned};
}

constexpr i64 ceil_divide(i64 a, i64 b) {
    return (a + b - 1) / b;
}
constexpr i64 lines(const Operand& o) {
    return o.lines_are_rows ? o.rows : o.columns;
}
// Tiles from the first line to the last, and along the lines.
constexpr i64 line_tiles(const Operand& o) {
    return ceil_divide(lines(o), o.lines_are_rows ? kTileRows : kTileColumns);
}
constexpr i64 depth_tiles(const Operand& o) {
    return ceil_divide(o.lines_are_rows ? o.columns : o.rows, o.lines_are_rows ? kTileColumns : kTileRows);
}
// The parts of a line whose largest elements are found apart.
constexpr i64 chunks(const Operand& o) {
    const i64 tiles = depth_tiles(o);
    return tiles < 1 ? 1 : tiles < kMostChunks ? tiles : kMostChunks;
}
constexpr i64 scan_items(const Operand& o) {
    return o.matrices * line_tiles(o) * chunks(o);
}
constexpr i64 split_items(const Operand& o) {
    return o.matrices * line_tiles(o) * depth_tiles(o);
}
constexpr i64 scan_items(const Operand& o, const PlanesOperand& to) {
    return to.planes ? scan_items(o) : 0;
}
constexpr i64 split_items(const Operand& o, const PlanesOperand& to) {
    return to.planes ? split_items(o) : 0;
}

// What an operand takes, in the workspace of a call or prepared in memory of its own: planes, largest, exponents and the mark of unfit
// lines, one behind the other, each at a multiple of 256 bytes.
constexpr i64 rounded(i64 bytes) {
    return (bytes + 255) / 256 * 256;
}
constexpr i64 plane_elements(const Operand& o, int planes) {
    return o.rows * pad::padded_ld(o.columns, type_of(planes));
}
constexpr i64 planes_bytes(const Operand& o, int planes) {
    return rounded(o.matrices * planes * plane_elements(o, planes) * 2);
}
constexpr i64 largest_bytes(const Operand& o) {
    return rounded(o.matrices * chunks(o) * lines(o) * 4);
}
constexpr i64 exponents_bytes(const Operand& o) {
    return rounded(o.matrices * lines(o) * 4);
}
constexpr i64 kUnfitBytes = 256;
constexpr i64 operand_bytes(const Operand& o, int planes) {
    return planes_bytes(o, planes) + largest_bytes(o) + exponents_bytes(o) + kUnfitBytes;
}

constexpr int threads(const KernelConfig&) {
    return kThreads;
}
constexpr i64 shared_bytes(const KernelConfig&, const KernelSignature&) {
    return shared_tile_bytes<int>(kTileColumns);
}
constexpr const char* first_violation(const KernelConfig& c, const KernelSignature& s) {
    if (const char* violation = float_types_violation(s)) return violation;
    if (c.planes != 2 && c.planes != 3) return "planes is 2 or 3";
    if (!uses_only(c, &KernelConfig::planes, &KernelConfig::vector_width, &KernelConfig::boundary))
        return "planes uses planes and vector_width only";
    return nullptr;
}

// Blocks walk over the items, so that the grid's limit does not bound the problem.
constexpr i64 blocks(i64 items) {
    return items < 1 ? 1 : items < 2147483647 ? items : 2147483647;
}

}  // namespace tmm::planes
