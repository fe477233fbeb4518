// This file says what a simt kernel needs and allows (kernel.cuh).
#pragma once

#include "tmm/copy/shared_layout.h"
#include "tmm/number/arithmetic.h"
#include "tmm/steps/pack/rules.h"
#include "tmm/steps/pack/strips.h"
#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"
#include "tmm/vocabulary/tensor_map.h"

namespace tmm {

// Arguments of kernels whose tiles the copy engine brings.
struct SimtTmaArgs : GemmArgs {
    PackersArgs packers;
    StripsArgs strips;
    TensorMap tiles_a;
    TensorMap tiles_b;
};

namespace simt {

// Does the copy engine (TMA) bring tiles, and no thread?
constexpr bool brings_by_tma(const KernelConfig& c) {
    return c.async_copy == 3;
}
template <bool tma>
struct ArgumentsOf {
    using Type = GemmArgs;
};
template <>
struct ArgumentsOf<true> {
    using Type = SimtTmaArgs;
};
template <class Kernel>
using Arguments = typename ArgumentsOf<brings_by_tma(Kernel::config)>::Type;

constexpr int threads_m(const KernelConfig& c) {
    return c.block_m / c.thread_m;
}
constexpr int threads_n(const KernelConfig& c) {
    return c.block_n / c.thread_n;
}
// The threads of each of the block's slice_k slices of a tile's k. The threads of every slice hold all of the block's C.
constexpr int slice_threads(const KernelConfig& c) {
    return threads_m(c) * threads_n(c);
}
constexpr int threads(const KernelConfig& c) {
    return slice_threads(c) * c.slice_k;
}
// Half of the slices hand their sums to the other half at once.
constexpr int parts_of_slices(const KernelConfig& c) {
    return c.slice_k / 2;
}
constexpr int slice_depth(const KernelConfig& c) {
    return c.block_k / c.slice_k;
}

// How many k the loop's body multiplies: all of a slice, or, where the copy engine brings tiles, no more than an instruction cache keeps. A
// loop of 2048 products takes 1 to 2% longer than a loop of 1024 on an H200, and a loop of 512 takes 5% longer, since each iteration has a
// cost, too.
constexpr int kProductsOfLoop = 1024;

constexpr int loop_depth(const KernelConfig& c) {
    int depth = slice_depth(c);
    while (brings_by_tma(c) && depth % 16 == 0 && c.thread_m * c.thread_n * depth > kProductsOfLoop) depth /= 2;
    return depth;
}

// Are the last k multiplied one at a time, where they are few?
constexpr bool leaves_k(const KernelConfig& c) {
    return brings_by_tma(c) && c.boundary != boundary::exact;
}

// A warp is 4 x 8 threads, where the block is large enough both ways and its threads divide into such. Else a warp's lanes follow each
// other along N, row after row.
constexpr int warp_n(const KernelConfig& c) {
    if (threads_n(c) < 8) return threads_n(c);
    return threads_m(c) < 4 ? 32 / threads_m(c) : 8;
}
constexpr int warp_m(const KernelConfig& c) {
    return 32 / warp_n(c);
}
constexpr bool has_warps_of_rectangles(const KernelConfig& c) {
    return 32 % warp_n(c) == 0 && threads_n(c) % warp_n(c) == 0 && threads_m(c) % warp_m(c) == 0;
}

// One operand's tile in shared memory. Its lines run along M or N, one for each k, as the fragments are read; where the matrix's
// rows run along K, the copy turns the tile, or (along_k) the lines run along K, too.
struct TileLayout {
    bool rows_along_k;
    bool lines_along_k;
    int outer;
    int depth;
    // Elements from one line to the next. Where rows run along K lines are padded, so that neither a copy that turns the tile nor
    // reads of several lines meet in a bank.
    int line_distance;
    // Elements that a thread moves at once. An asynchronous copy that turns the tile moves single elements; with async_copy=2 a tile
    // that is turned passes through registers instead, in whole vectors.
    int vector;
    // Elements of one access to global memory.
    int access;
    bool async_copy;
    // The matrix is a packed copy, whose memory goes on past the edges: along K with zeros.
    bool padded;
};

// alignment: to so many bytes each row of the matrix is aligned.
constexpr TileLayout tile_layout(bool rows_along_k, int outer, const KernelConfig& c, ElementType type, int alignment, bool packed) {
    const bool lines_along_k = rows_along_k && c.along_k != 0;
    const bool turned = rows_along_k && !lines_along_k;
    const int aligned = alignment / size_of(type);
    const int together = aligned < c.vector_width ? aligned : c.vector_width;
    const bool wants_async_copy = c.async_copy == 1 || brings_by_tma(c) || (c.async_copy == 2 && !turned);
    const int vector = turned && wants_async_copy ? 1 : together;
    // cp.async moves at least 4 bytes.
    const bool async_copy = wants_async_copy && vector * size_of(type) >= 4;
    return TileLayout{.rows_along_k = rows_along_k,
                      .lines_along_k = lines_along_k,
                      .outer = outer,
                      .depth = c.block_k,
                      .line_distance = (lines_along_k ? c.block_k : outer) + (rows_along_k ? 4 : 0),
                      .vector = vector,
                      .access = vector,
                      .async_copy = async_copy,
                      .padded = packed && pack::divides_depth(c.block_k)};
}
constexpr TileLayout layout_a(const KernelConfig& c, const KernelSignature& s) {
    return tile_layout(s.op_a == Operation::none, c.block_m, c, s.type_a, s.align_a, pack::packs_a(c));
}
constexpr TileLayout layout_b(const KernelConfig& c, const KernelSignature& s) {
    return tile_layout(s.op_b == Operation::transpose, c.block_n, c, s.type_b, s.align_b, pack::packs_b(c));
}
constexpr int tile_elements(const TileLayout& l) {
    return (l.lines_along_k ? l.outer : l.depth) * l.line_distance;
}

// How many k a thread reads at once. It reads lines along K by vectors.
constexpr int kLineVector = 4;

constexpr int steps_at_once(const TileLayout& l) {
    return l.lines_along_k ? kLineVector : 1;
}

// Neighbouring rows or columns of C that a thread owns.
constexpr int group_of(const TileLayout& l, int per_thread) {
    return l.lines_along_k ? 1 : per_thread < 4 ? per_thread : 4;
}

// Columns that a thread sums at once where parts of K are added up.
constexpr int kSumVector = 4;

// Two barriers for each stage where the copy engine brings tiles: the stage has landed, and it has been read.
constexpr int barriers_of(const KernelConfig& c) {
    return 2 * c.stages;
}

constexpr i64 shared_bytes(const KernelConfig& c, const KernelSignature& s) {
    const i64 bytes = shared_tile_bytes(s.type_a, tile_elements(layout_a(c, s)), c.stages) +
                      shared_tile_bytes(s.type_b, tile_elements(layout_b(c, s)), c.stages) +
                      (c.slice_k > 1 ? shared_tile_bytes(sum_type(s), c.block_m * c.block_n, parts_of_slices(c)) : 0) +
                      (c.cluster > 1 ? shared_tile_bytes(sum_type(s), c.block_m * c.block_n) : 0) +
                      (c.stream_k != 0 ? shared_tile_bytes<i64>(1) : 0) +
                      (brings_by_tma(c) ? shared_tile_bytes<unsigned long long>(barriers_of(c)) : 0);
    const i64 for_strips = leaves_strips_to_pack(c) ? strips::shared_bytes(threads(c), s) : 0;
    return bytes > for_strips ? bytes : for_strips;
}

// Squares that a packer has under way, in the memory that the product's tiles take in other blocks.
constexpr int packer_stages(const KernelConfig& c, const KernelSignature& s) {
    const i64 fit = shared_bytes(c, s) / pack::square_bytes(s.type_a);
    return fit < 8 ? static_cast<int>(fit) : 8;
}

// Rows of the matrix within a tile, and their length.
constexpr int matrix_rows(const TileLayout& l) {
    return l.rows_along_k ? l.outer : l.depth;
}
constexpr int matrix_columns(const TileLayout& l) {
    return l.rows_along_k ? l.depth : l.outer;
}

// Does the tile lie otherwise than in the matrix, so that copies go element by element?
constexpr bool is_turned(const TileLayout& l) {
    return l.rows_along_k && !l.lines_along_k;
}
constexpr bool moves_vectors(const TileLayout& l) {
    return !is_turned(l);
}

// The offset in the tile of an element of the matrix's part.
constexpr int element_offset(const TileLayout& l, int row, int column) {
    return is_turned(l) ? column * l.line_distance + row : row * l.line_distance + column;
}

// Can the block's threads move a row of the tile's vectors at a time, or several? Those beyond whole rows are idle meanwhile.
constexpr bool copies_whole_rows(const TileLayout& l, int threads) {
    return matrix_columns(l) % l.vector == 0 && matrix_columns(l) / l.vector <= threads;
}

// Rows, or columns, of a thread that the order of its products takes at a time.
constexpr bool takes_rows(const KernelConfig& c) {
    return c.fma_order <= fma_order::four_rows;
}
constexpr int taken_together(const KernelConfig& c) {
    switch (c.fma_order) {
        case fma_order::two_rows: return c.thread_m % 2 == 0 ? 2 : 1;
        case fma_order::two_columns: return 2;
        case fma_order::four_rows:
        case fma_order::four_columns: return 4;
    }
    return 1;
}
constexpr const char* order_violation(const KernelConfig& c) {
    if (c.fma_order < 0 || c.fma_order >= fma_order::count) return "fma_order is 0 to 5";
    const int lines = takes_rows(c) ? c.thread_m : c.thread_n;
    // To take all of them at a time would be the same as another order.
    if (c.fma_order != fma_order::two_rows && taken_together(c) > 1 && (lines == taken_together(c) || lines % taken_together(c) != 0))
        return "fma_order takes two or four rows or columns at a time out of a multiple of that";
    return nullptr;
}

constexpr const char* tma_violation(const KernelConfig& c, const KernelSignature& s) {
    if (s.type_a != ElementType::f32) return "the copy engine brings tiles of floats: with async_copy=3 dtype is f32";
    if (c.stream_k != 0) return "the copy engine brings the tiles of one item: with async_copy=3 stream_k is 0";
    if (layout_a(c, s).rows_along_k || layout_b(c, s).rows_along_k)
        return "TMA turns no tiles: async_copy=3 takes rows of A along M and of B along N, ops=tn or operands packed so";
    if (s.align_a < 16 || s.align_b < 16)
        return "TMA needs rows of A and B that start at multiples of 16 bytes: align=16, lda and ldb multiples of 4, or operands packed";
    if (c.vector_width != 4) return "with async_copy=3 vector_width is 4";
    if (c.block_m > kLargestBox || c.block_n > kLargestBox) return "TMA brings tiles of up to 256 rows and columns";
    const int bytes = size_of(s.type_a);
    if (c.block_m * bytes % 16 != 0 || c.block_n * bytes % 16 != 0 || c.block_m * c.block_k * bytes % 128 != 0 ||
        c.block_n * c.block_k * bytes % 128 != 0)
        return "TMA brings lines of a multiple of 16 bytes to tiles of a multiple of 128";
    return nullptr;
}

constexpr const char* first_violation(const KernelConfig& c, const KernelSignature& s) {
    if (const char* violation = one_type_or_bytes_violation(s)) return violation;
    if (c.thread_m < 1 || c.thread_m > 16 || c.thread_n < 1 || c.thread_n > 16) return "thread_m and thread_n are 1 to 16";
    if (c.block_m < 1 || c.block_n < 1 || c.block_m % c.thread_m != 0 || c.block_n % c.thread_n != 0)
        return "block_m and block_n must be multiples of thread_m and thread_n";
    if (threads(c) > 1024) return "a block has at most 1024 threads";
    if (c.slice_k != 1 && c.slice_k != 2 && c.slice_k != 4 && c.slice_k != 8) return "slice_k is 1, 2, 4 or 8";
    if (slice_threads(c) % 32 != 0) return "a block's threads, or those of each slice, must be whole warps of 32";
    if ((c.thread_m > 4 && c.thread_m % 4 != 0) || (c.thread_n > 4 && c.thread_n % 4 != 0) || c.thread_m == 3 || c.thread_n == 3)
        return "thread_m and thread_n are 1, 2 or a multiple of 4, so that fragments are read as vectors";
    if (c.block_k < 4 || c.block_k > 64 || c.block_k % 4 != 0) return "block_k is a multiple of 4 from 4 to 64";
    if (c.vector_width != 1 && c.vector_width != 2 && c.vector_width != 4) return "vector_width is 1, 2 or 4";
    if (c.along_k != 0 && c.along_k != 1) return "along_k is 0 or 1";
    if (c.along_k == 1 && !layout_a(c, s).lines_along_k && !layout_b(c, s).lines_along_k)
        return "along_k needs an operand whose rows run along K";
    if (c.block_k % (4 * c.slice_k) != 0) return "a slice of block_k is a multiple of 4";
    if (c.along_k == 1 && slice_depth(c) % (2 * kLineVector) != 0)
        return "along_k reads fragments of 4 k in turns: block_k, or a slice of it, is a multiple of 8";
    if (c.async_copy < 0 || c.async_copy > 3) return "async_copy is 0 to 3";
    if (c.async_copy == 1 && (!layout_a(c, s).async_copy || !layout_b(c, s).async_copy))
        return "cp.async moves at least 4 bytes: with async_copy=1 both operands of s8 are aligned to 4, and none is turned";
    if (c.async_copy == 2 && layout_a(c, s).async_copy == layout_b(c, s).async_copy)
        return "async_copy=2 needs one operand that the copy turns, and one that it does not";
    if (c.async_copy != 0 ? c.stages < 2 || c.stages > 8 : c.stages < 1 || c.stages > 2)
        return "stages is 1 or 2 through registers, 2 to 8 with asynchronous copies";
    if (brings_by_tma(c)) {
        if (const char* violation = tma_violation(c, s)) return violation;
    } else if (!copies_whole_rows(layout_a(c, s), threads(c)) || !copies_whole_rows(layout_b(c, s), threads(c))) {
        return "the block's threads must move at least a row of the tiles of A and B at a time, a vector each";
    }
    if (c.min_blocks < 1 || c.min_blocks > 8) return "min_blocks is 1 to 8";
    if (c.boundary != boundary::exact && c.boundary != boundary::guarded && c.boundary != boundary::peeled)
        return "simt's boundary mode is exact, guarded or peeled";
    if (c.split_k < 1 || c.split_k > 1024) return "split_k is 1 to 1024";
    if (c.cluster < 1 || c.cluster > 8) return "cluster is 1 to 8";
    if (c.split_k % c.cluster != 0) return "cluster must divide split_k";
    if (c.cluster > 1 && c.block_n % kSumVector != 0) return "a cluster sums vectors of 4 columns: block_n must be a multiple of 4";
    if (c.stream_k != 0 && c.stream_k != 1) return "stream_k is 0 or 1";
    if (c.stream_k == 1 && c.split_k != 1) return "stream_k divides K itself: split_k and cluster are 1";
    if (c.stream_k == 1 && c.slice_k != 1) return "stream_k does not slice K: slice_k is 1";
    if (c.stream_k == 1 && c.block_n % kSumVector != 0) return "stream_k adds up vectors of 4 columns: block_n must be a multiple of 4";
    if (c.raster < 0 || c.raster > 64) return "raster is 0 to 64";
    if (c.pack_ab != 0 && s.type_a == ElementType::s8) return "operands of s8 are not packed: pack_ab is 0";
    if (c.pack_ab < 0 || c.pack_ab > 7 || c.pack_ab == kPacksBeside) return "pack_ab is 0 to 3, or 5 to 7";
    if (pack::packs_beside(c)) {
        if (!brings_by_tma(c)) return "only where the copy engine brings tiles (async_copy=3) do blocks of the product pack, too";
        if (s.type_a != ElementType::f32) return "blocks of the product pack floats";
        if (c.split_k != 1) return "operands are packed beside the product from K's beginning on: split_k is 1";
        if (!pack::can_pack(threads(c)))
            return "packers go through squares of 64 by 64: the block's threads are 64 or a larger power of two";
        if (!pack::divides_depth(c.block_k)) return "operands are packed beside the product in lines of 64: block_k divides 64";
        if (packer_stages(c, s) < 2) return "the product's shared memory has no room for two squares that its packers copy";
    }
    if (const char* violation = order_violation(c)) return violation;
    if (c.trim < 0 || c.trim > kTrimsByPack) return "simt's trim is 0 to 2";
    if (leaves_strips_to_pack(c) && !brings_by_tma(c)) return "only where the copy engine brings tiles (async_copy=3) is trim 2";
    return nullptr;
}

constexpr i64 blocks(const KernelConfig& c, i64 m, i64 n, i64 batch) {
    return ((m + c.block_m - 1) / c.block_m) * ((n + c.block_n - 1) / c.block_n) * batch * c.split_k;
}

}  // namespace simt
}  // namespace tmm
