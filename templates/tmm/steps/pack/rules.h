// This file says what a pack kernel needs and allows (kernel.cuh), and where it leaves the operands.
#pragma once

#include "tmm/copy/shared_layout.h"
#include "tmm/number/arithmetic.h"
#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// Blocks of a product that pack for its other blocks (packers.cuh).
struct PackersArgs {
    int blocks = 0;
    // Rows of squares along M or N that `pack` has left to them begin here, counted along K.
    int first_row = 0;
    // The operands as they lie, where they are packed.
    const float* a = nullptr;
    const float* b = nullptr;
    i64 lda = 0;
    i64 ldb = 0;
    bool turned_a = false;
    bool turned_b = false;
    bool vectors_a = false;
    bool vectors_b = false;
    float* packed_a = nullptr;
    float* packed_b = nullptr;
    // How many squares each of these blocks has packed.
    unsigned* squares = nullptr;
};

// A strip of C: a few lines of one operand, multiplied with all of the other, which is packed. Each square's part of the strip's sums goes
// to `sums`, as [batch][part][line][workspace_ld(outer)].
struct PackedStrip {
    // 0 where there is no strip.
    int lines = 0;
    const void* few = nullptr;
    // Elements of `few` from one line, one k and one member of the batch to the next.
    i64 line_distance = 0;
    i64 k_distance = 0;
    i64 stride = 0;
    void* sums = nullptr;
};

// What `pack` is told: of how many k it packs lines, and how many lines it writes, those past K with zeros; the counters of the blocks that
// pack the other lines, which it sets to 0; and the strips that it multiplies with A and with B.
struct PackArgs : GemmArgs {
    i64 depth = 0;
    i64 lines = 0;
    unsigned* squares = nullptr;
    PackedStrip with_a;
    PackedStrip with_b;
};

// The kernel that copies operands to where simt reads them best.
struct Pack {
    // The operands that it copies.
    bool a = false;
    bool b = false;
    // It multiplies strips on its way.
    bool strips = false;
    // Blocks that an SM should hold, which bounds the registers.
    int blocks_per_sm = 1;

    friend constexpr bool operator==(const Pack&, const Pack&) = default;
};

namespace pack {

// A block copies squares of this width, so many rows of them at a time. No tile of simt is deeper.
constexpr int kTile = 64;
constexpr int kRows = 4;
// Blocks that an SM should hold, which bounds the registers: 132 SMs then take 512 blocks at once, all that 1023 x 1023 x 1023 needs.
constexpr int kBlocksPerSm = 4;

// Neighbouring k of a row of threads.
constexpr int kOfRow = kTile / kRows;
// Most lines that a strip may have, since each row of threads brings one; and the elements of such a line: a square's k of it, and those
// that may be left beyond the square.
constexpr int kMostStripLines = kRows;
constexpr int kFewOfLine = kTile + kRows;
// Squares along K. The last square takes along as many further k as it has rows of threads: a square of their own would cost these a second
// round.
constexpr i64 squares_along_k(i64 k) {
    return k <= kTile ? (k > 0 ? 1 : 0) : (k - kRows + kTile - 1) / kTile;
}
// Parts of each of a strip's sums: each row of threads adds up its own k of a square.
constexpr i64 strip_parts(i64 k) {
    return squares_along_k(k) * kRows;
}
constexpr int kLongestStripChain = kOfRow + 1;
constexpr i64 strip_elements(i64 lines, i64 outer, i64 k, i64 batch) {
    return batch * strip_parts(k) * lines * workspace_ld(outer);
}

constexpr bool packs_a(const KernelConfig& c) {
    return (c.pack_ab & 1) != 0;
}
constexpr bool packs_b(const KernelConfig& c) {
    return (c.pack_ab & 2) != 0;
}

// Are all lines but the first ones packed while the product runs, by blocks of the product?
constexpr bool packs_beside(const KernelConfig& c) {
    return (c.pack_ab & kPacksBeside) != 0;
}
// Most blocks that pack: one for each lane of a warp, since a warp looks at all of their counters at once.
constexpr int kMostPackers = 32;
// Can blocks of so many threads pack? Their loops go through squares by powers of two, and by whole rows.
constexpr bool can_pack(int threads) {
    return threads >= kTile && (threads & (threads - 1)) == 0;
}
constexpr i64 kCounterBytes = kMostPackers * static_cast<i64>(sizeof(unsigned));

// Lines of a packed operand: those past K are zeros, so that none of a tile's needs a check. Tiles that TMA brings do not meet them.
constexpr i64 packed_depth(i64 k) {
    return (k + kTile - 1) / kTile * kTile;
}
// Does a tile of that depth never reach past these lines?
constexpr bool divides_depth(int block_k) {
    return kTile % block_k == 0;
}
// A packed operand has lines of m or n elements, and no gaps but the lines' own padding. In the workspace A's stands first, then B's, then
// room for a tile's elements past the last line.
constexpr i64 packed_elements(i64 outer, i64 k, i64 batch) {
    return packed_ld(outer) * packed_depth(k) * batch;
}
constexpr i64 elements_past_a_line(i64 outer, int block) {
    const i64 reached = (outer + block - 1) / block * block;
    return reached > packed_ld(outer) ? packed_ld(reached - packed_ld(outer)) : 0;
}
constexpr i64 elements_past_the_last(const KernelConfig& product, i64 m, i64 n) {
    const i64 of_a = packs_a(product) ? elements_past_a_line(m, product.block_m) : 0;
    const i64 of_b = packs_b(product) ? elements_past_a_line(n, product.block_n) : 0;
    return of_a > of_b ? of_a : of_b;
}

// Elements of all of this in the workspace, from its start.
constexpr i64 workspace_elements(const KernelConfig& product, i64 m, i64 n, i64 k, i64 batch) {
    return (packs_a(product) ? packed_elements(m, k, batch) : 0) + (packs_b(product) ? packed_elements(n, k, batch) : 0) +
           elements_past_the_last(product, m, n);
}

constexpr int threads(const Pack&) {
    return kTile * kRows;
}
// A row has one element more, so that columns are read from different banks.
constexpr int kSquareElements = kTile * (kTile + 1);
// Elements that are moved at once where they are aligned.
constexpr int kVector = 4;
constexpr i64 square_bytes(ElementType type) {
    return shared_tile_bytes(type, kSquareElements);
}
constexpr i64 shared_bytes(const Pack& p, const KernelSignature& s) {
    return square_bytes(s.type_a) + (p.strips ? shared_tile_bytes(s.type_a, kMostStripLines * kFewOfLine) : 0);
}

constexpr const char* first_violation(const Pack& p, const KernelSignature& s) {
    if (const char* violation = one_type_violation(s)) return violation;
    if (!p.a && !p.b) return "pack copies A, B or both";
    if (p.blocks_per_sm < 1) return "an SM holds one block of pack at least";
    return nullptr;
}

constexpr i64 tiles(i64 outer, i64 k, i64 batch) {
    return ((outer + kTile - 1) / kTile) * squares_along_k(k) * batch;
}

// Blocks loop over the tiles, so that the grid's limit does not bound the problem.
constexpr i64 blocks(const Pack& p, i64 m, i64 n, i64 k, i64 batch) {
    const i64 needed = (p.a ? tiles(m, k, batch) : 0) + (p.b ? tiles(n, k, batch) : 0);
    return needed < 1 ? 1 : needed < 2147483647 ? needed : 2147483647;
}

}  // namespace pack
}  // namespace tmm
