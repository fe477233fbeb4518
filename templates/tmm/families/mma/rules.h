// This file says what an mma kernel needs and allows (kernel.cuh).
#pragma once

#include "tmm/copy/shared_layout.h"
#include "tmm/number/arithmetic.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm::mma {

// mma.sync multiplies 16 rows of A by 8 columns of B; two such products side by side make a square of C.
constexpr int kSquare = 16;
// Elements of k that one instruction multiplies.
constexpr int instruction_k(const KernelSignature& s) {
    return s.type_a == ElementType::f64 ? 16 : 32 / size_of(s.type_a);
}
// Registers of an instruction's fragment of A, which are as many as those of two fragments of B.
constexpr int fragment_registers(const KernelSignature& s) {
    return s.type_a == ElementType::f64 ? 8 : 4;
}
// Are a step's fragments read while those before it are multiplied? A product of doubles takes so long that another warp's reads hide
// behind it, and two steps' fragments would not find room beside their sums.
constexpr bool reads_ahead(const KernelSignature& s) {
    return s.type_a != ElementType::f64;
}
// Elements of a chunk: 16 bytes, a row of the 8 x 8 matrices that ldmatrix reads.
constexpr int chunk_elements(const KernelSignature& s) {
    return 16 / size_of(s.type_a);
}

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
// Sums that a thread holds.
constexpr int accumulators(const KernelConfig& c) {
    return warp_rows(c) * warp_columns(c) / 32;
}
// Registers that a thread's sums may take.
constexpr int kMostSumRegisters = 128;

// One operand's tile in shared memory: rows as in global memory, along K, or along M or N.
struct TileLayout {
    bool rows_along_k;
    int outer;
    int depth;
    // Elements that a thread moves at once. Those that are read one by one are stored as words of 4 bytes.
    int vector;
    // Elements of one access to global memory.
    int access;
    bool async_copy;
    // Rows start anywhere; they are read by aligned chunks, which are shifted into place (realigning_copy.cuh).
    bool realigned;
    // Elements of 16 bytes.
    int chunk;
    // Chunks side by side that lanes read at once.
    int chunks_read;
    // Rows hold bytes along M or N: of each four rows ldmatrix reads two, and two the next time.
    bool reads_pairs_of_rows;
    // No operand here is a copy that goes on past the matrix's edges.
    bool padded = false;
};

constexpr TileLayout tile_layout(bool rows_along_k, int outer, const KernelConfig& c, const KernelSignature& s, int alignment) {
    const int bytes = size_of(s.type_a);
    const int chunk = chunk_elements(s);
    const bool realigned = bytes == 2 && alignment < 4 && c.vector_width == chunk;
    const int aligned = alignment / bytes < c.vector_width ? alignment / bytes : c.vector_width;
    const int access = realigned ? chunk : aligned;
    return TileLayout{.rows_along_k = rows_along_k,
                      .outer = outer,
                      .depth = c.block_k,
                      .vector = access * bytes < 4 ? 4 / bytes : access,
                      .access = access,
                      // cp.async moves 4, 8 or 16 bytes.
                      .async_copy = c.async_copy != 0 && aligned * bytes >= 4,
                      .realigned = realigned,
                      .chunk = chunk,
                      // ldmatrix reads rows of one chunk; of doubles four neighbours are read, a lane each.
                      .chunks_read = bytes == 8 ? 2 : 1,
                      .reads_pairs_of_rows = bytes == 1 && !rows_along_k};
}
constexpr TileLayout layout_a(const KernelConfig& c, const KernelSignature& s) {
    return tile_layout(s.op_a == Operation::none, c.block_m, c, s, s.align_a);
}
constexpr TileLayout layout_b(const KernelConfig& c, const KernelSignature& s) {
    return tile_layout(s.op_b == Operation::transpose, c.block_n, c, s, s.align_b);
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
    const unsigned chunks = static_cast<unsigned>(matrix_columns(l) / l.chunk);
    return chunks % 8 == 0 ? 8 : chunks % 4 == 0 ? 4 : chunks % 2 == 0 ? 2 : 1;
}

// The offset in the tile of an element of the matrix's part.
constexpr int element_offset(const TileLayout& l, int row, int column) {
    const auto r = static_cast<unsigned>(row);
    // Rows that are read at once are counted without gaps.
    const unsigned read = l.reads_pairs_of_rows ? r / 4 * 2 + r % 2 : r;
    const unsigned c = static_cast<unsigned>(column);
    const auto width = static_cast<unsigned>(l.chunk);
    const unsigned span = swizzle_span(l);
    const unsigned chunk = c / width ^ read / (8 / span) * static_cast<unsigned>(l.chunks_read) % span;
    return static_cast<int>(r * static_cast<unsigned>(matrix_columns(l)) + chunk * width + c % width);
}

constexpr i64 shared_bytes(const KernelConfig& c, const KernelSignature& s) {
    return shared_tile_bytes(s.type_a, tile_elements(layout_a(c, s)), c.stages) +
           shared_tile_bytes(s.type_b, tile_elements(layout_b(c, s)), c.stages);
}

constexpr bool copies_evenly(const TileLayout& l, int threads) {
    return matrix_columns(l) % l.vector == 0 && threads % (matrix_columns(l) / l.vector) == 0;
}

constexpr const char* first_violation(const KernelConfig& c, const KernelSignature& s) {
    const bool doubles = s.type_a == ElementType::f64;
    const bool bytes = s.type_a == ElementType::s8;
    if ((!is_16_bit(s.type_a) && !doubles && !bytes) || s.type_b != s.type_a)
        return "mma multiplies f16 by f16, bf16 by bf16, f64 by f64 or s8 by s8";
    if (s.compute != (doubles ? ComputeMode::f64 : bytes ? ComputeMode::s32 : ComputeMode::f32))
        return "mma accumulates in f32, products of f64 in f64 and of s8 in s32";
    if (s.type_c != sum_type(s) && (s.type_c != s.type_a || bytes)) return "mma's C is of its operands' type or its sums', of s8 it is s32";
    if (const char* violation = epilogue_violation(s)) return violation;
    if (c.warps_m < 1 || c.warps_m > 16 || c.warps_n < 1 || c.warps_n > 16 || threads(c) > 512)
        return "warps_m * warps_n is 1 to 16: a block of up to 512 threads";
    if (c.block_m < kSquare || c.block_n < kSquare || c.block_m % (kSquare * c.warps_m) != 0 || c.block_n % (kSquare * c.warps_n) != 0)
        return "block_m and block_n must be multiples of 16 * warps_m and 16 * warps_n";
    if (accumulators(c) * sum_bytes(s) > 4 * kMostSumRegisters) return "a warp computes at most 64 x 64 of C, and 64 x 32 of doubles";
    if (c.block_k < instruction_k(s) || c.block_k * size_of(s.type_a) > 256 || c.block_k % instruction_k(s) != 0)
        return doubles ? "block_k is 16 or 32" : "block_k is a multiple of 16 from 16 to 128, with s8 of 32 from 32 to 256";
    if (c.vector_width < 1 || (c.vector_width & (c.vector_width - 1)) != 0 || c.vector_width > chunk_elements(s))
        return "vector_width is 1, 2, 4, 8 or 16, and a vector at most 16 bytes";
    if (c.async_copy != 0 && c.async_copy != 1) return "async_copy is 0 or 1";
    if (c.async_copy == 1 && !layout_a(c, s).async_copy && !layout_b(c, s).async_copy)
        return "cp.async moves at least 4 bytes: async_copy needs vectors of 4 bytes or more and rows that start at multiples of 4 bytes";
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
//
// Sums of doubles are a chain of FMAs in the order of k.
constexpr i64 longest_chain(const KernelSignature& s, i64 k) {
    if (s.type_a == ElementType::f64) return k;
    const i64 steps = (k + 7) / 8;
    return steps * 8 * 2 + steps * 2;
}

}  // namespace tmm::mma
