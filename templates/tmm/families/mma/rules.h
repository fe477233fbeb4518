// This file says what an mma kernel needs and allows (kernel.cuh).
#pragma once

#include "tmm/copy/shared_layout.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm::mma {

// The type in which the instruction adds up products.
using Sum = float;

// mma.sync multiplies 16 x 16 of A by 16 x 8 of B; two such products side by side make a square of C.
constexpr int kSquare = 16;
// Elements of 16 bytes: a row of the 8 x 8 matrices that ldmatrix reads.
constexpr int kChunk = 8;

constexpr int threads(const KernelConfig& c) {
    return 32 * c.warps_m * c.warps_n;
}
// The part of the block's tile that a warp computes.
constexpr int warp_rows(const KernelConfig& c) {
    return c.block_m / c.warps_m;
}
constexpr int warp_columns(const KernelConfig& c) {
    return c.block_n / c.warps_n;
}
constexpr int accumulators(const KernelConfig& c) {
    return warp_rows(c) * warp_columns(c) / 32;
}

// One operand's tile in shared memory: rows as in global memory, along K, or along M or N.
struct TileLayout {
    bool rows_along_k;
    int outer;
    int depth;
    // Elements that a thread moves at once. Those that are read one by one are stored in pairs.
    int vector;
    // Elements of one access to global memory.
    int access;
    bool async_copy;
    // Rows start anywhere; they are read by aligned chunks, which are shifted into place (realigning_copy.cuh).
    bool realigned;
    // No operand here is a copy that goes on past the matrix's edges.
    bool padded = false;
};

constexpr TileLayout tile_layout(bool rows_along_k, int outer, const KernelConfig& c, int alignment) {
    const bool realigned = alignment < 4 && c.vector_width == kChunk;
    const int aligned = alignment / 2 < c.vector_width ? alignment / 2 : c.vector_width;
    const int access = realigned ? kChunk : aligned;
    return TileLayout{.rows_along_k = rows_along_k,
                      .outer = outer,
                      .depth = c.block_k,
                      .vector = access < 2 ? 2 : access,
                      .access = access,
                      // cp.async moves 4, 8 or 16 bytes.
                      .async_copy = c.async_copy != 0 && aligned >= 2,
                      .realigned = realigned};
}
constexpr TileLayout layout_a(const KernelConfig& c, const KernelSignature& s) {
    return tile_layout(s.op_a == Operation::none, c.block_m, c, s.align_a);
}
constexpr TileLayout layout_b(const KernelConfig& c, const KernelSignature& s) {
    return tile_layout(s.op_b == Operation::transpose, c.block_n, c, s.align_b);
}
constexpr int tile_elements(const TileLayout& l) {
    return l.outer * l.depth;
}

constexpr int matrix_rows(const TileLayout& l) {
    return l.rows_along_k ? l.outer : l.depth;
}
constexpr int matrix_columns(const TileLayout& l) {
    return l.rows_along_k ? l.depth : l.outer;
}
constexpr bool moves_vectors(const TileLayout&) {
    return true;
}

// How many chunks of a row change places among each other: a power of two that divides the row, up to the 8 chunks that fill the banks.
constexpr unsigned swizzle_span(const TileLayout& l) {
    const unsigned chunks = static_cast<unsigned>(matrix_columns(l) / kChunk);
    return chunks % 8 == 0 ? 8 : chunks % 4 == 0 ? 4 : chunks % 2 == 0 ? 2 : 1;
}

// The offset in the tile of an element of the matrix's part.
constexpr int element_offset(const TileLayout& l, int row, int column) {
    const unsigned r = static_cast<unsigned>(row);
    const unsigned c = static_cast<unsigned>(column);
    const unsigned span = swizzle_span(l);
    const unsigned chunk = c / kChunk ^ r / (8 / span) % span;
    return static_cast<int>(r * static_cast<unsigned>(matrix_columns(l)) + chunk * kChunk + c % kChunk);
}

constexpr i64 shared_bytes(const KernelConfig& c, const KernelSignature& s) {
    return shared_tile_bytes<short>(tile_elements(layout_a(c, s)), c.stages) +
           shared_tile_bytes<short>(tile_elements(layout_b(c, s)), c.stages);
}

constexpr bool copies_evenly(const TileLayout& l, int threads) {
    return matrix_columns(l) % l.vector == 0 && threads % (matrix_columns(l) / l.vector) == 0;
}

constexpr const char* first_violation(const KernelConfig& c, const KernelSignature& s) {
    if (!is_16_bit(s.type_a) || s.type_b != s.type_a) return "mma multiplies f16 by f16 or bf16 by bf16";
    if (s.type_c != s.type_a && s.type_c != ElementType::f32) return "mma's C is of its operands' type or f32";
    if (s.compute != ComputeMode::f32) return "mma accumulates in f32";
    if (c.warps_m < 1 || c.warps_m > 16 || c.warps_n < 1 || c.warps_n > 16 || threads(c) > 512)
        return "warps_m * warps_n is 1 to 16: a block of up to 512 threads";
    if (c.block_m < kSquare || c.block_n < kSquare || c.block_m % (kSquare * c.warps_m) != 0 || c.block_n % (kSquare * c.warps_n) != 0)
        return "block_m and block_n must be multiples of 16 * warps_m and 16 * warps_n";
    if (accumulators(c) > 128) return "a warp computes at most 64 x 64 of C: 128 accumulators a thread";
    if (c.block_k < kSquare || c.block_k > 128 || c.block_k % kSquare != 0) return "block_k is a multiple of 16 from 16 to 128";
    if (c.vector_width != 1 && c.vector_width != 2 && c.vector_width != 4 && c.vector_width != 8) return "vector_width is 1, 2, 4 or 8";
    if (c.async_copy != 0 && c.async_copy != 1) return "async_copy is 0 or 1";
    if (c.async_copy == 1 && !layout_a(c, s).async_copy && !layout_b(c, s).async_copy)
        return "cp.async moves at least 4 bytes: async_copy needs vector_width of 2 or more and rows that start at multiples of 4 bytes";
    if (c.async_copy == 1 ? c.stages < 2 || c.stages > 8 : c.stages < 1 || c.stages > 2)
        return "stages is 1 or 2 through registers, 2 to 8 with asynchronous copies";
    if (!copies_evenly(layout_a(c, s), threads(c)) || !copies_evenly(layout_b(c, s), threads(c)))
        return "the block's threads must make whole rows of the tiles of A and B, a vector each";
    if (c.min_blocks < 1 || c.min_blocks > 8) return "min_blocks is 1 to 8";
    if (c.boundary != boundary::exact && c.boundary != boundary::guarded && c.boundary != boundary::peeled)
        return "mma's boundary mode is exact, guarded or peeled";
    if (c.split_k < 1 || c.split_k > 1024) return "split_k is 1 to 1024";
    if (c.raster < 0 || c.raster > 64) return "raster is 0 to 64";
    return nullptr;
}

constexpr i64 blocks(const KernelConfig& c, i64 m, i64 n, i64 batch) {
    return ((m + c.block_m - 1) / c.block_m) * ((n + c.block_n - 1) / c.block_n) * batch * c.split_k;
}

// Roundings of a sum over k, in units of u = 2^-24 of the sum of the products' magnitudes. Tensor cores do not round each product's
// addition: they take 8 exact products (k of Ampere and Ada, twice as many on Hopper) and the sum so far, shift each to the
// exponent of the largest, cut off what is below its last bit, and cut the total off again. Each cut loses less than a last bit, 2u,
// of something no larger than the magnitudes' sum: 8 addends beside the largest, and the total, for every 8 of k. Hardware that keeps
// further bits while it adds loses less.
constexpr i64 longest_chain(i64 k) {
    const i64 steps = (k + 7) / 8;
    return steps * 8 * 2 + steps * 2;
}

}  // namespace tmm::mma
