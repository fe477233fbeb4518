// This file says how floats are stored as 16-bit planes, and where: the kernel that writes them (kernel.cuh), those that multiply them
// (families/wgmma/planes.cuh) and the host agree on it.
//
// A line is what a scale belongs to: a row of op(A), a column of op(B); where parts of K are multiplied apart, its part. Each line is
// divided by a power of two, its exponent, such that its largest element is near 2^top; then an element x is
//
//     2 planes:  x = h + 2^-11 l      h, l in f16:     11 + 11 bits
//     3 planes:  x = h + m + l        h, m, l in bf16: 8 + 8 + 8 bits
//
// Elements much smaller than their line's largest are short: their last plane has lost bits to its least exponent. Lines with more than
// a few of them, and those with Inf or NaN, are unfit.
#pragma once

#include "tmm/copy/shared_layout.h"
#include "tmm/steps/pad/rules.h"
#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// Where the planes of an operand go. All pointers are null for an operand that is not to be split, since its planes are already prepared.
struct PlanesOperand {
    // The exponents of the lines: [batch][part of K][line].
    int* exponents = nullptr;
    // The planes lie as the operand does, and their rows are padded as those of `pad` are: [batch][plane][row][column].
    void* planes = nullptr;
    // A mark for each tile of lines, not 0 where a line is unfit: [batch][part of K][tile].
    unsigned* unfit = nullptr;
};

// An operand's marks of unfit tiles, for the kernels that multiply it.
struct UnfitMarks {
    const unsigned* of_tile = nullptr;
    i64 count = 0;
};

// The kernel that writes floats as planes.
struct Planes {
    int planes = 2;
    // Blocks that share a tile of lines.
    int cluster = 1;
    // Tiles that a block keeps in shared memory.
    int slots = 1;

    friend constexpr bool operator==(const Planes&, const Planes&) = default;
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
// The exponent of a line's largest element when the line has been divided. The sums of K products of such elements stay far from overflow.
constexpr int top_exponent(int planes) {
    return planes == 2 ? 14 : 40;
}
// The exponent below which an element is short: there l's last bit would stand below what its type holds.
constexpr int least_exponent(int planes) {
    return planes == 2 ? -13 : -108;
}
// How many of the elements that a thread splits may be short: any data has a few such elements.
constexpr int kMostShort = 1;

constexpr i64 ceil_divide(i64 a, i64 b) {
    return (a + b - 1) / b;
}

// A cluster of blocks takes a tile of lines from end to end; its blocks take turns at parts of them, in tiles of which a thread has 8 quads
// of neighbouring elements (tile.cuh). A block keeps as many tiles as it has slots in shared memory until the largest elements are
// known; it reads the other tiles twice, the second time from L2.
constexpr int kTileLines = 32;
constexpr int kTileDepth = 256;
constexpr int kQuad = 4;
constexpr int kQuads = 8;
constexpr int kThreads = kTileLines * kTileDepth / (kQuad * kQuads);
constexpr int kMostBlocks = 8;
constexpr int kMostSlots = 3;
// Blocks of a cluster: as many as the lines are long enough for.
constexpr int cluster_for(i64 depth) {
    int blocks = 1;
    while (blocks < kMostBlocks && blocks * kTileDepth < depth) blocks *= 2;
    return blocks;
}
// How many of its tiles a block may keep, and how many blocks an SM holds then.
constexpr int slots_for(i64 depth) {
    const i64 tiles = ceil_divide(depth, i64{kTileDepth} * cluster_for(depth));
    return tiles < 1 ? 1 : tiles < kMostSlots ? static_cast<int>(tiles) : kMostSlots;
}
constexpr int blocks_per_sm(int slots) {
    return slots < kMostSlots ? 3 : 2;
}

// A stored operand. Its lines are its rows, or, where they run across, its columns.
struct Operand {
    i64 rows;
    i64 columns;
    i64 ld;
    i64 stride;
    i64 matrices;
    bool lines_are_rows;
    // The parts of K, and the depth of each.
    int parts;
    i64 part_depth;
};
constexpr Operand operand_a(const GemmArgs& g, const KernelSignature& s) {
    const bool turned = s.op_a == Operation::transpose;
    return Operand{turned ? g.k : g.m, turned ? g.m : g.k, g.lda, g.stride_a, g.batch > 1 && g.stride_a != 0 ? g.batch : 1, !turned,
                   g.split_k,          g.k_per_split};
}
constexpr Operand operand_b(const GemmArgs& g, const KernelSignature& s) {
    const bool turned = s.op_b == Operation::transpose;
    return Operand{turned ? g.n : g.k, turned ? g.k : g.n, g.ldb, g.stride_b, g.batch > 1 && g.stride_b != 0 ? g.batch : 1, turned,
                   g.split_k,          g.k_per_split};
}

constexpr i64 lines(const Operand& o) {
    return o.lines_are_rows ? o.rows : o.columns;
}
constexpr i64 depth(const Operand& o) {
    return o.lines_are_rows ? o.columns : o.rows;
}
// Tiles from the first line to the last.
constexpr i64 line_tiles(const Operand& o) {
    return ceil_divide(lines(o), kTileLines);
}
// Items of work that the clusters have to do.
constexpr i64 items(const Operand& o) {
    return o.matrices * o.parts * line_tiles(o);
}
constexpr i64 items(const Operand& o, const PlanesOperand& to) {
    return to.planes ? items(o) : 0;
}

// Bytes that an operand takes, in the workspace of a call or prepared in memory of its own: planes, exponents and the marks of unfit lines,
// one after the other, each at a multiple of 256 bytes.
constexpr i64 rounded(i64 bytes) {
    return (bytes + 255) / 256 * 256;
}
constexpr i64 plane_elements(const Operand& o, int planes) {
    return o.rows * pad::padded_ld(o.columns, type_of(planes));
}
constexpr i64 planes_bytes(const Operand& o, int planes) {
    return rounded(o.matrices * planes * plane_elements(o, planes) * 2);
}
constexpr i64 exponents_bytes(const Operand& o) {
    return rounded(o.matrices * o.parts * lines(o) * 4);
}
constexpr i64 unfit_bytes(const Operand& o) {
    return rounded(items(o) * 4);
}
constexpr i64 operand_bytes(const Operand& o, int planes) {
    return planes_bytes(o, planes) + exponents_bytes(o) + unfit_bytes(o);
}

constexpr int threads(const Planes&) {
    return kThreads;
}
constexpr i64 shared_bytes(const Planes& p) {
    return shared_tile_bytes<float>(kTileLines * kTileDepth, p.slots) + shared_tile_bytes<unsigned>(kTileLines, kThreads / 32) +
           shared_tile_bytes<unsigned>(kTileLines) + shared_tile_bytes<float>(kTileLines) + shared_tile_bytes<unsigned>(1);
}
constexpr const char* first_violation(const Planes& p, const KernelSignature& s) {
    if (const char* violation = float_types_violation(s)) return violation;
    if (p.planes != 2 && p.planes != 3) return "planes is 2 or 3";
    if (p.slots < 1 || p.slots > kMostSlots) return "slots is 1 to 3";
    if (p.cluster < 1 || p.cluster > kMostBlocks) return "a cluster of 1 to 8 blocks shares lines";
    return nullptr;
}

// Clusters loop over the items, so that the grid's limit does not bound the problem.
constexpr i64 blocks(const Planes& p, i64 items) {
    const i64 most = 2147483647 / p.cluster;
    return (items < 1 ? 1 : items < most ? items : most) * p.cluster;
}

}  // namespace tmm::planes
