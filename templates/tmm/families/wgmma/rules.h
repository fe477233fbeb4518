// This file says what a wgmma kernel needs and allows (kernel.cuh).
#pragma once

#include "tmm/copy/shared_layout.h"
#include "tmm/families/wgmma/fragments.h"
#include "tmm/number/arithmetic.h"
#include "tmm/schedule/tile_grid.h"
#include "tmm/schedule/triangle.h"
#include "tmm/steps/planes/rules.h"
#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"
#include "tmm/vocabulary/tensor_map.h"

namespace tmm {

struct WgmmaArgs : GemmArgs {
    // The grid counts clusters of blocks that load together: its rows are the left operand's, its columns the right one's. It stands next
    // to the other arguments that a block reads first, since each line of arguments is waited for.
    TileGrid grid;
    TensorMap left;
    TensorMap right;
    // Tensor maps of C where results leave in boxes: one for the boxes of all columns but a tile's last ones, and one for the boxes of
    // these; `before` and `before_rest` are the same for what boxes hold before results take its place: C, or the residual.
    TensorMap result;
    TensorMap result_rest;
    TensorMap before;
    TensorMap before_rest;
    // Tensor maps for boundary mode peeled: each covers an operand's last rows, where they are fewer than a tile has and no other block
    // shares them.
    TensorMap left_edge;
    TensorMap right_edge;
    // These are used where the operands are planes of floats (steps/planes/rules.h): the exponent of the power of two that each line was
    // divided by in each part of K, [batch][part][line], and marks of the tiles of lines that do not fit their planes.
    const int* exponents_left = nullptr;
    const int* exponents_right = nullptr;
    UnfitMarks unfit_a;
    UnfitMarks unfit_b;
};

}  // namespace tmm

namespace tmm::wgmma {

// Threads of a warpgroup, and rows of one instruction.
constexpr int kWarpgroup = 128;
constexpr int kRows = 64;
// Bytes of a tile's row in shared memory: the span of the 128-byte swizzle.
constexpr int kRowBytes = 128;
// Most k of a tile.
constexpr int kDeepestTile = 256;

// The kernel multiplies a left operand, whose rows the instruction takes by 64, with a right one. With swap_ab it computes the
// transpose of C, so that the left one is B: for few rows of C, which then are the instruction's n.
constexpr Operation left_operation(const KernelConfig& c, const KernelSignature& s) {
    return c.swap_ab ? (s.op_b == Operation::none ? Operation::transpose : Operation::none) : s.op_a;
}
constexpr Operation right_operation(const KernelConfig& c, const KernelSignature& s) {
    return c.swap_ab ? (s.op_a == Operation::none ? Operation::transpose : Operation::none) : s.op_b;
}

// One operand's tile in shared memory, in slabs that are a row of 128 bytes wide.
struct TileLayout {
    // Rows run along K, as they do in the matrix; else along M or N.
    bool along_k;
    int outer;
    int depth;
    int element_bytes;
    // The number of tiles that stand one after the other, one for each of as many 16-bit matrices.
    int planes;
};
constexpr TileLayout left_tile(const KernelConfig& c, const KernelSignature& s) {
    return TileLayout{.along_k = left_operation(c, s) == Operation::none,
                      .outer = c.block_m,
                      .depth = c.block_k,
                      .element_bytes = size_of(s.type_a),
                      .planes = c.planes};
}
constexpr TileLayout right_tile(const KernelConfig& c, const KernelSignature& s) {
    return TileLayout{.along_k = right_operation(c, s) == Operation::transpose,
                      .outer = c.block_n,
                      .depth = c.block_k,
                      .element_bytes = size_of(s.type_b),
                      .planes = c.planes};
}
constexpr int row_elements(const TileLayout& t) {
    return kRowBytes / t.element_bytes;
}
constexpr int slab_rows(const TileLayout& t) {
    return t.along_k ? t.outer : t.depth;
}
// Where rows run along N, the last slab may hold columns that are not the tile's; no instruction reads them.
constexpr int slabs(const TileLayout& t) {
    return ((t.along_k ? t.depth : t.outer) + row_elements(t) - 1) / row_elements(t);
}
constexpr int slab_bytes(const TileLayout& t) {
    return slab_rows(t) * kRowBytes;
}
constexpr int plane_bytes(const TileLayout& t) {
    return slabs(t) * slab_bytes(t);
}
constexpr int tile_bytes(const TileLayout& t) {
    return t.planes * plane_bytes(t);
}

// From shared memory the hardware reads operands of 16 bits either way, and all others along K only (is_k_major_only). But a left operand
// of tf32 may come from registers, into which its tile, whose rows run along M, is read word by word.
constexpr bool left_from_registers(const KernelConfig& c, const KernelSignature& s) {
    return s.compute == ComputeMode::tf32 && !left_tile(c, s).along_k;
}

// The k of one instruction: 32 bytes.
constexpr int k_step(const KernelSignature& s) {
    return 32 / size_of(s.type_a);
}

// Can an instruction multiply by so many columns, a multiple of 8? By whole numbers it takes more than 32 only in steps of 16.
constexpr bool takes_columns(const KernelSignature& s, int columns) {
    return !format_of(s.type_a).is_integer || columns <= 32 || columns % 16 == 0;
}

// By vectors of 16 bytes at least a kernel's signature tells operands that TMA takes from others.
constexpr int vector_width(ElementType type) {
    return size_of(type) == 1 ? 16 : 8;
}

// Warpgroups that multiply a tile of C together; with ping_pong, two warpgroups that each multiply a whole tile.
constexpr int consumers(const KernelConfig& c) {
    return c.ping_pong ? 2 : c.warps_m * c.warps_n;
}
constexpr int warps_of_consumers(const KernelConfig& c) {
    return consumers(c) * kWarpgroup / 32;
}
// Warpgroups that read each tile of A and B.
constexpr int readers(const KernelConfig& c) {
    return c.warps_m * c.warps_n;
}
// One warpgroup brings the tiles, the others multiply.
constexpr int threads(const KernelConfig& c) {
    return (consumers(c) + 1) * kWarpgroup;
}
// Rows and columns of the tile that a warpgroup computes.
constexpr int group_m(const KernelConfig& c) {
    return c.block_m / c.warps_m;
}
constexpr int group_n(const KernelConfig& c) {
    return c.block_n / c.warps_n;
}
// A gate takes its two sums from one thread: each warpgroup multiplies the gate's columns of op(B), or rows of op(A), in the first half of
// its tile and those that it is for in the second half. Columns are held by the right operand, or with swap_ab by the left one, and rows by
// the other. Each half of a warpgroup's share of that operand is brought by itself:
//
//     op(B), n = 2 h columns:   | 0 ... h - 1 are the gate's           | h ... 2 h - 1                        |
//     two warpgroups' tile:     | j ... j + 63 | h + j ... h + j + 63  | j + 64 ... j + 127 | h + j + 64 ...  |
constexpr bool gates_left(const KernelConfig& c, const KernelSignature& s) {
    return gates_rows(s.activation) ? c.swap_ab == 0 : c.swap_ab != 0;
}
constexpr int group_of_gate(const KernelConfig& c, const KernelSignature& s) {
    return gates_left(c, s) ? group_m(c) : group_n(c);
}
constexpr bool applies_gate(const KernelConfig& c, const KernelSignature& s) {
    if (!is_gate(s.activation) || s.reads_c || c.split_k != 1 || c.planes != 1 || c.trim != 0 || c.warps_m < 1 || c.warps_n < 1)
        return false;
    const bool left = gates_left(c, s);
    const TileLayout tile = left ? left_tile(c, s) : right_tile(c, s);
    const int shares = left ? c.multicast_a : c.multicast_b;
    const int unit = left ? kRows : tile.along_k ? 8 : row_elements(tile);
    const int group = group_of_gate(c, s);
    const int half = group / 2;
    return half > 0 && group % 2 == 0 && half % unit == 0 && shares > 0 && (!tile.along_k || half % (8 * shares) == 0);
}
// Is the left, or the right, operand's tile brought in a gate's halves?
constexpr bool left_in_halves(const KernelConfig& c, const KernelSignature& s) {
    return applies_gate(c, s) && gates_left(c, s);
}
constexpr bool right_in_halves(const KernelConfig& c, const KernelSignature& s) {
    return applies_gate(c, s) && !gates_left(c, s);
}
// How many of a tile's rows come in one box, where they run along K: all of a slab's, or those of half a warpgroup's share of it, of which
// each of `sharers` blocks brings a part.
constexpr int box_rows_along_k(const TileLayout& tile, const KernelConfig& c, const KernelSignature& s, bool in_halves, int sharers) {
    return (in_halves ? group_of_gate(c, s) / 2 : tile.outer) / sharers;
}
// Rows and columns of the results of a warpgroup: those of its sums, or half as many along a gate's axis.
constexpr int result_m(const KernelConfig& c, const KernelSignature& s) {
    return left_in_halves(c, s) ? group_m(c) / 2 : group_m(c);
}
constexpr int result_n(const KernelConfig& c, const KernelSignature& s) {
    return right_in_halves(c, s) ? group_n(c) / 2 : group_n(c);
}
// Products of planes that make one product of floats (planes.cuh).
constexpr int products(int planes) {
    return planes == 1 ? 1 : planes == 2 ? 3 : 6;
}
// Accumulators of a thread; with planes each element has three (planes.cuh).
constexpr int accumulators(const KernelConfig& c) {
    return group_m(c) * group_n(c) / kWarpgroup * (c.planes > 1 ? 3 : 1);
}

// Words of a left operand that comes from registers: those of two steps of k.
constexpr int fragment_registers(const KernelConfig& c, const KernelSignature& s) {
    return left_from_registers(c, s) ? 2 * kFragments * group_m(c) / kRows : 0;
}

// Blocks of a cluster that share tiles: multicast_b of them along the left operand's rows and multicast_a along the right operand's
// columns. The blocks that `cluster` counts take parts of K instead.
constexpr int multicast(const KernelConfig& c) {
    return c.multicast_a * c.multicast_b;
}
// Blocks that a block brings tiles to, and that bring tiles to it, with itself.
constexpr int sharers(const KernelConfig& c) {
    return c.multicast_a + c.multicast_b - 1;
}
// A block's place in its cluster of multicast(c) blocks: ranks follow each other along the left operand.
constexpr unsigned place_along_left(const KernelConfig& c, unsigned rank) {
    return rank % static_cast<unsigned>(c.multicast_b);
}
constexpr unsigned place_along_right(const KernelConfig& c, unsigned rank) {
    return rank % static_cast<unsigned>(multicast(c)) / static_cast<unsigned>(c.multicast_b);
}
// Bit masks of ranks: the blocks that have the same left tile as the block of the given rank, and the blocks that have the same right tile.
constexpr unsigned sharers_of_left(const KernelConfig& c, unsigned rank) {
    unsigned ranks = 0;
    for (int place = 0; place < c.multicast_a; ++place) ranks |= 1u << place * c.multicast_b;
    return ranks << place_along_left(c, rank);
}
constexpr unsigned sharers_of_right(const KernelConfig& c, unsigned rank) {
    return ((1u << c.multicast_b) - 1) << place_along_right(c, rank) * static_cast<unsigned>(c.multicast_b);
}
constexpr unsigned sharers_of(const KernelConfig& c, unsigned rank) {
    return sharers_of_left(c, rank) | sharers_of_right(c, rank);
}
constexpr int cluster_size(const KernelConfig& c) {
    return multicast(c) * c.cluster;
}

// Registers that a thread may have before the warpgroups trade registers, and after it: the warpgroup that brings tiles needs few.
constexpr int kProducerRegisters = 40;
constexpr int registers_at_launch(const KernelConfig& c) {
    const int share = 65536 / (threads(c) * c.min_blocks) / 8 * 8;
    return share < 248 ? share : 248;
}
constexpr int consumer_registers(const KernelConfig& c) {
    const int share = registers_at_launch(c);
    const int more = (share + (share - kProducerRegisters) / consumers(c)) / 8 * 8;
    return more < 240 ? more : 240;
}
constexpr bool trades_registers(const KernelConfig& c) {
    return registers_at_launch(c) > kProducerRegisters && consumer_registers(c) > registers_at_launch(c);
}

// A warp turns its 16 rows of sums, so many columns at a time, into rows of C by way of shared memory.
constexpr int kWarpRows = 16;

// Do results leave by the copy engine, in boxes (boxes.cuh)? Otherwise the warp writes them itself (store.cuh).
constexpr bool stores_boxes(const KernelConfig& c, const KernelSignature& s) {
    return s.align_c >= 16 && c.split_k == 1;
}
// The copy engine brings old values into a box before results take their place: those of C where it is read, else those of the residual.
constexpr bool box_brings_residual(const KernelSignature& s) {
    return s.residual && !s.reads_c && s.align_residual >= 16;
}
constexpr bool box_brings_values(const KernelSignature& s) {
    return s.reads_c || box_brings_residual(s);
}
// Are bias and activation, or an expression, applied to all sums of a warpgroup before the first of them goes to a box (finish.cuh)? What
// an expression does with a residual can't be parted from it. Beside 192 sums a thread has no registers left for that.
constexpr bool finishes_in_registers(const KernelConfig& c, const KernelSignature& s) {
    if (!stores_boxes(c, s) || s.reads_c || is_gate(s.activation) || accumulators(c) > 144) return false;
    if (s.epilogue == Epilogue::custom) return !s.residual;
    return s.bias != BiasAxis::none || s.activation != Activation::none;
}
// What is left to do of the epilogue where results go to boxes.
constexpr KernelSignature signature_of_boxes(const KernelConfig& c, const KernelSignature& s) {
    return finishes_in_registers(c, s) ? behind_activation(s) : behind_gate(s);
}
// Does the first product of a tile replace its sums, which then need no zeros before? Where there is no product, boxes are filled without
// sums, except by what reads them before; whatever else is stored comes from the sums in any case, which then begin as zeros.
constexpr bool first_product_replaces(const KernelConfig& c, const KernelSignature& s) {
    return stores_boxes(c, s) && c.planes == 1 && !applies_gate(c, s) && !finishes_in_registers(c, s);
}
constexpr bool adds_to_sums(const KernelConfig& c, const KernelSignature& s, int tile, int k) {
    return !first_product_replaces(c, s) || tile > 0 || k > 0;
}
constexpr i64 pipeline_bytes(const KernelConfig& c, const KernelSignature& s) {
    return static_cast<i64>(c.stages) * (tile_bytes(left_tile(c, s)) + tile_bytes(right_tile(c, s)));
}
// Bytes of shared memory of one of Hopper's SMs, of which the system takes some for each block.
constexpr i64 kSharedBytesOfSm = 228 * 1024;
constexpr i64 kReservedSharedBytes = 1024;
// Bytes kept free for a block's barriers, more than all of them take (boxes.cuh sees to it).
constexpr i64 kBytesForBarriers = 1024;
constexpr i64 room_for_results(const KernelConfig& c, const KernelSignature& s) {
    return kSharedBytesOfSm / c.min_blocks - kReservedSharedBytes - pipeline_bytes(c, s) - kBytesForBarriers;
}
// A warp has at least two boxes: while one leaves, the next is filled.
constexpr int kLeastBoxes = 2;
constexpr int box_bytes(const KernelSignature& s, int sum_columns) {
    return kWarpRows * sum_columns * size_of(s.type_c);
}
// How many columns of a warpgroup's sums leave together: 128 bytes of elements of that size or all that there are; half of that, and half
// again, down to 8, where the stages leave too little room. bytes_of: the bytes that so many columns take for each warp.
template <class BytesOf>
constexpr int columns_together(const KernelConfig& c, const KernelSignature& s, int element_bytes, BytesOf&& bytes_of) {
    int most = kRowBytes / element_bytes;
    while (most > 8) {
        const int columns = result_n(c, s) < most ? result_n(c, s) : most;
        if (warps_of_consumers(c) * bytes_of(columns) <= room_for_results(c, s)) return columns;
        most /= 2;
    }
    return most;
}
// How many columns of 64 rows of sums leave in each box; the rest of them leave in a narrower box.
constexpr int sum_columns_of_box(const KernelConfig& c, const KernelSignature& s) {
    return columns_together(c, s, size_of(s.type_c), [&](int columns) { return kLeastBoxes * box_bytes(s, columns); });
}
constexpr int sum_columns_of_rest(const KernelConfig& c, const KernelSignature& s) {
    return result_n(c, s) % sum_columns_of_box(c, s);
}
// Elements of C in a row of a box of so many columns of sums, and the box's rows: the 16 rows of sums of a warp are its rows or, with
// swap_ab, its columns.
constexpr int box_columns(const KernelConfig& c, int sum_columns) {
    return c.swap_ab ? kWarpRows : sum_columns;
}
constexpr int box_rows(const KernelConfig& c, int sum_columns) {
    return c.swap_ab ? sum_columns : kWarpRows;
}
constexpr int boxes_of_row(const KernelConfig& c, const KernelSignature& s) {
    return result_n(c, s) / sum_columns_of_box(c, s) + (sum_columns_of_rest(c, s) > 0 ? 1 : 0);
}
constexpr int boxes_of_tile(const KernelConfig& c, const KernelSignature& s) {
    return result_m(c, s) / kRows * boxes_of_row(c, s);
}
// The number of a warp's boxes: as many as fit. Where old values are brought, they come into up to four of them while the tile is
// multiplied. Otherwise results leave in all of a tile's boxes at once, up to six, or in two halves of an even number of boxes, of which
// one is filled while the other leaves.
constexpr int boxes_of_warp(const KernelConfig& c, const KernelSignature& s) {
    const i64 most = box_brings_values(s) ? 4 : 6;
    const i64 fit = room_for_results(c, s) / (box_bytes(s, sum_columns_of_box(c, s)) * warps_of_consumers(c));
    const i64 useful = boxes_of_tile(c, s) < most ? boxes_of_tile(c, s) : most;
    const i64 boxes = fit < useful ? fit : useful;
    if (boxes < kLeastBoxes) return kLeastBoxes;
    return static_cast<int>(box_brings_values(s) || boxes == boxes_of_tile(c, s) ? boxes : boxes / 2 * 2);
}
// How many of the boxes are filled before the copy engine is told to store them.
constexpr int boxes_at_once(const KernelConfig& c, const KernelSignature& s) {
    if (box_brings_values(s)) return 1;
    return boxes_of_warp(c, s) < boxes_of_tile(c, s) ? boxes_of_warp(c, s) / 2 : boxes_of_tile(c, s);
}
// Is a slab of this tile that would reach beyond the matrix brought from where it ends with the matrix instead? The elements that it then
// has in common with the slab before it are multiplied, and stored, twice with the same result. TMA takes longer for boxes of which some
// chunks do not exist: 1024x1000x1024 in tiles of 64 x 128 takes 5.9 instead of 5.2 microseconds on an H200. A slab of which the tile takes
// the first columns alone must begin with these.
constexpr bool slabs_end_with_matrix(const KernelConfig& c, const KernelSignature& s, const TileLayout& tile) {
    return stores_boxes(c, s) && !s.reads_c && c.planes == 1 && !tile.along_k && tile.outer % row_elements(tile) == 0 &&
           tile.element_bytes == 2 && !applies_gate(c, s);
}
// The columns that the copy engine stores: as many as fill chunks of 16 bytes.
constexpr i64 whole_chunks(i64 columns, ElementType type) {
    const i64 chunk = 16 / size_of(type);
    return columns / chunk * chunk;
}

// Bytes of an element that is staged where results do not leave in boxes: it has C's type, or is a float where C is read, since the sum is
// rounded only once.
constexpr int staged_bytes(const KernelConfig& c, const KernelSignature& s) {
    return s.reads_c || c.split_k > c.cluster ? 4 : size_of(s.type_c);
}
// Elements from one staged row of C to the next where so many columns of sums are staged. With this distance neither the threads that own
// the sums nor those that write the rows meet in a bank: the sums of 8 columns take as many banks in each of 8 rows.
constexpr int staged_distance(const KernelConfig& c, const KernelSignature& s, int sum_columns) {
    if (c.swap_ab) return kWarpRows + 16 / staged_bytes(c, s);
    const int eights = sum_columns / 8;
    return 8 * (eights + (eights % 2 == 0 ? 1 : 2));
}
constexpr int staged_rows_bytes(const KernelConfig& c, const KernelSignature& s, int sum_columns) {
    return (c.swap_ab ? sum_columns : kWarpRows) * staged_distance(c, s, sum_columns) * staged_bytes(c, s);
}
// How many columns of sums are staged at a time; the rest of them is staged last.
constexpr int staged_columns(const KernelConfig& c, const KernelSignature& s) {
    return columns_together(c, s, staged_bytes(c, s), [&](int columns) { return staged_rows_bytes(c, s, columns); });
}
// Do stages leave too little room to stage rows as wide as they might be?
constexpr bool stages_narrow_rows(KernelConfig c, const KernelSignature& s) {
    if (stores_boxes(c, s) || c.cluster > 1) return false;
    const int columns = staged_columns(c, s);
    c.stages = 0;
    return columns < staged_columns(c, s);
}
constexpr int staged_tile_bytes(const KernelConfig& c, const KernelSignature& s) {
    if (stores_boxes(c, s)) return boxes_of_warp(c, s) * box_bytes(s, sum_columns_of_box(c, s));
    // The blocks of a cluster that sums parts of K show each other their sums instead.
    if (c.cluster > 1) return 16;
    return staged_rows_bytes(c, s, staged_columns(c, s));
}

// Barriers: two for each stage, and one for each warpgroup that waits for its turn; and, in all, one for each box that old values come
// into.
constexpr int pipeline_barriers(const KernelConfig& c) {
    return 2 * c.stages + (c.ping_pong ? 2 : 0);
}
constexpr int barriers(const KernelConfig& c, const KernelSignature& s) {
    return pipeline_barriers(c) + (stores_boxes(c, s) && box_brings_values(s) ? warps_of_consumers(c) * boxes_of_warp(c, s) : 0);
}
// A cluster's blocks show each other their sums as rows of C, over the tiles, which are not needed any more. Elements from one row to the
// next, such that the sums of a warp meet in no bank; and the bytes of a block's part.
constexpr int part_distance(const KernelConfig& c) {
    return c.swap_ab ? c.block_m + 4 : c.block_n / 8 % 2 != 0 ? c.block_n : c.block_n + 8;
}
constexpr i64 part_bytes(const KernelConfig& c) {
    return c.cluster > 1 ? 4LL * (c.swap_ab ? c.block_n : c.block_m) * part_distance(c) : 0;
}
constexpr i64 shared_bytes(const KernelConfig& c, const KernelSignature& s) {
    const i64 tiles = pipeline_bytes(c, s) > part_bytes(c) ? pipeline_bytes(c, s) : part_bytes(c);
    return shared_tile_bytes<unsigned char>(static_cast<int>(tiles)) +
           shared_tile_bytes<unsigned char>(staged_tile_bytes(c, s), warps_of_consumers(c)) +
           shared_tile_bytes<unsigned long long>(barriers(c, s));
}

constexpr bool is_power_of_two(int value) {
    return value > 0 && (value & (value - 1)) == 0;
}

constexpr const char* first_violation(const KernelConfig& c, const KernelSignature& s) {
    const bool tf32 = s.type_a == ElementType::f32 && s.compute == ComputeMode::tf32;
    const bool bytes = s.type_a == ElementType::s8;
    if ((!is_16_bit(s.type_a) && !tf32 && !bytes) || s.type_a != s.type_b)
        return "wgmma multiplies f16 by f16, bf16 by bf16, s8 by s8, and, with compute = tf32, f32 by f32";
    if (s.type_c != sum_type(s) && (s.type_c != s.type_a || bytes))
        return "wgmma's C has the operands' type or f32; of products of s8 it is s32";
    if (!tf32 && s.compute != (bytes ? ComputeMode::s32 : ComputeMode::f32))
        return "wgmma computes with 16-bit operands in f32, and with s8 in s32";
    if (const char* violation = epilogue_violation(s)) return violation;
    if (s.align_a < 16 || s.align_b < 16) return "TMA needs rows of A and B that start at multiples of 16 bytes";
    if (c.warps_m < 1 || c.warps_n < 1 || consumers(c) > 3) return "warps_m * warps_n is 1 to 3 warpgroups";
    if (c.block_m < kRows || c.block_m > 256 || c.block_m % (kRows * c.warps_m) != 0)
        return "block_m is up to 256 and a multiple of 64 for each of warps_m warpgroups";
    if (c.block_n < 8 || c.block_n > 256 || c.block_n % (8 * c.warps_n) != 0)
        return "block_n is up to 256 and a multiple of 8 for each of warps_n warpgroups";
    const TileLayout left = left_tile(c, s);
    const TileLayout right = right_tile(c, s);
    if (c.block_k < row_elements(left) || c.block_k > kDeepestTile || c.block_k % row_elements(left) != 0)
        return "block_k is a multiple of the elements that a row of 128 bytes holds, 128 bytes, 64 of 16 bits or 32 floats, up to 256";
    if (tf32 && !right.along_k)
        return "tf32 takes a right operand whose rows run along K: turn it (pack_ab), or make it the left one (swap_ab)";
    if (is_k_major_only(s.type_a) && (!right.along_k || (!left.along_k && !left_from_registers(c, s))))
        return "of bytes the rows of both operands run along K: turn an operand whose rows do not (pack_ab)";
    if (!takes_columns(s, group_n(c))) return "an instruction multiplies s8 by 8, 16, 24 or 32 columns, or by more in steps of 16";
    // An instruction counts slabs from the column that its descriptor begins with, so that each warpgroup begins with a slab.
    if (!right.along_k && c.warps_n > 1 && group_n(c) % row_elements(right) != 0)
        return "where the right operand's rows run along N, the columns of each of several warps_n are a multiple of 64";
    if (c.min_blocks < 1 || c.min_blocks > 8) return "min_blocks is 1 to 8";
    if (accumulators(c) > 192) return "a thread holds at most 192 accumulators";
    if (left_from_registers(c, s) && accumulators(c) > 152)
        return "beside fragments of the left operand a thread holds at most 152 accumulators";
    const int others = left_from_registers(c, s) ? fragment_registers(c, s) + 48 : 40;
    if (accumulators(c) + others > (trades_registers(c) ? consumer_registers(c) : registers_at_launch(c)))
        return "the accumulators do not fit the registers of min_blocks blocks";
    // ptxas counts an instruction's registers against those at launch, whatever is traded later; some 26 are its own.
    if (group_n(c) / 2 + fragment_registers(c, s) + 26 > registers_at_launch(c))
        return "an instruction's sums do not fit the registers that a thread has at launch";
    if (c.stages < 2 || c.stages > 16) return "stages is 2 to 16";
    if (!is_power_of_two(c.multicast_a) || !is_power_of_two(c.multicast_b) || c.multicast_a > 4 || c.multicast_b > 4)
        return "multicast_a and multicast_b are 1, 2 or 4";
    if (multicast(c) > 8) return "at most 8 blocks share tiles";
    if (slab_rows(left) % (8 * c.multicast_a) != 0 || slab_rows(right) % (8 * c.multicast_b) != 0)
        return "blocks that load a tile together take whole groups of 8 of its rows";
    if (c.swap_ab != 0 && c.swap_ab != 1) return "swap_ab is 0 or 1";
    if (c.pack_ab < 0 || c.pack_ab > 3) return "pack_ab is 0 to 3";
    if (c.cluster < 1 || c.cluster > 8) return "cluster is 1 to 8";
    if (c.cluster > 1 && multicast(c) > 1) return "a cluster either sums parts of K or shares tiles";
    if (c.split_k < 1 || c.split_k > 1024) return "split_k is 1 to 1024";
    if (c.split_k % c.cluster != 0) return "cluster must divide split_k";
    if (c.raster < 0 || c.raster > 64) return "raster is 0 to 64";
    if (c.planes < 1 || c.planes > 3) return "planes is 1, 2 or 3";
    if (c.planes > 1) {
        if (s.type_a != planes::type_of(c.planes)) return "2 planes are f16, 3 planes are bf16";
        if (s.type_c != ElementType::f32) return "products of planes are f32";
        if (group_m(c) != kRows) return "with planes a warpgroup takes 64 rows";
        if (c.promote_k < k_step(s) || c.promote_k % k_step(s) != 0 || c.block_k % c.promote_k != 0)
            return "promote_k is a multiple of an instruction's 16 k that divides block_k";
    } else if (c.promote_k != 0) {
        return "promote_k goes with planes";
    }
    if (c.ping_pong != 0 && c.ping_pong != 1) return "ping_pong is 0 or 1";
    if (c.ping_pong && readers(c) > 1) return "with ping_pong a warpgroup multiplies a whole tile: warps_m and warps_n are 1";
    if (c.ping_pong && c.cluster > 1) return "a cluster that sums parts of K has one tile, and no turns for ping_pong to take";
    if (c.trim != 0 && c.trim != 1) return "trim is 0 or 1";
    if (c.trim != 0 && c.planes > 1) return "products of planes are not trimmed";
    if (c.boundary != boundary::hardware && c.boundary != boundary::peeled) return "wgmma's boundary mode is hardware or peeled";
    if (c.vector_width != vector_width(s.type_a)) return "wgmma's vector_width is 8, and with bytes 16";
    if (is_gate(s.activation) && !applies_gate(c, s)) return "the halves of a gate do not fit a warpgroup's tile";
    return nullptr;
}

// Rows of boxes of the operands' last tiles, or last clusters of tiles, that do not exist: they lie beyond the matrix's last row, or in
// slabs beyond its columns. With boundary mode hardware TMA brings zeros in their place, which takes it longer than to fetch rows:
// 32x6144x4096 nt of bf16 in tiles of 128 x 64 takes 31.2 instead of 16.3 microseconds on an H200. With boundary mode peeled, edge tiles
// bring only the rows that exist, of an operand that blocks do not share; operands that blocks share do not count.
constexpr i64 missing_rows(const KernelConfig& c, const KernelSignature& s, i64 m, i64 n) {
    const auto missing = [&](const TileLayout& tile, int sharers, int tiles, i64 extent) {
        if (sharers > 1 || (!tile.along_k && slabs_end_with_matrix(c, s, tile))) return i64{0};
        const i64 brought = static_cast<i64>(tile.outer) * tiles;
        const i64 beyond = (extent + brought - 1) / brought * brought - extent;
        if (tile.along_k) return beyond;
        // Whole tiles lie beyond the matrix, and slabs of the tile that its last column lies in.
        const i64 tiles_beyond = beyond / tile.outer;
        const i64 reached = (tile.outer - beyond % tile.outer + row_elements(tile) - 1) / row_elements(tile);
        return ((tiles_beyond + 1) * slabs(tile) - reached) * slab_rows(tile);
    };
    return missing(left_tile(c, s), c.multicast_a, c.multicast_b, c.swap_ab ? n : m) +
           missing(right_tile(c, s), c.multicast_b, c.multicast_a, c.swap_ab ? m : n);
}

// Tiles of the kernel's left and right operand over all of C, in whole clusters of blocks that load together; and the number of blocks, one
// for each tile, part of K and member of the batch.
constexpr int rows_of_cluster(const KernelConfig& c) {
    return c.block_m * c.multicast_b;
}
constexpr int columns_of_cluster(const KernelConfig& c) {
    return c.block_n * c.multicast_a;
}
constexpr i64 clusters_left(const KernelConfig& c, i64 m, i64 n) {
    return ((c.swap_ab ? n : m) + rows_of_cluster(c) - 1) / rows_of_cluster(c);
}
constexpr i64 clusters_right(const KernelConfig& c, i64 m, i64 n) {
    return ((c.swap_ab ? m : n) + columns_of_cluster(c) - 1) / columns_of_cluster(c);
}
// The triangle that is wanted of the left operand's rows by the right one's columns, and a square's clusters (schedule/triangle.h).
constexpr Result result_of_sides(const KernelConfig& c, const KernelSignature& s) {
    if (c.swap_ab) return transposed(s.result);
    return s.result;
}
constexpr TilesOfC clusters_of_square(const KernelConfig& c) {
    const i64 side = square_side(rows_of_cluster(c), columns_of_cluster(c));
    return {side / rows_of_cluster(c), side / columns_of_cluster(c)};
}
constexpr i64 blocks(const KernelConfig& c, i64 m, i64 n, i64 batch) {
    return clusters_left(c, m, n) * clusters_right(c, m, n) * batch * (c.split_k / c.cluster) * cluster_size(c);
}

// The longest chain of roundings, in units of 2^-24 relative to the sum of magnitudes. An instruction aligns 16 products and the sum so far
// to the largest of them and cuts off what falls below its 24 bits (Khattak and Mikaitis, arXiv 2512.07004): 17 addends and their sum are
// each off by less than two units. With tf32 it may take 4 products at a time, and before that each of the two factors was rounded by up to
// 2^-11 of itself; the last term is the product of both roundings.
constexpr i64 longest_chain(const KernelSignature& s, i64 k) {
    const bool tf32 = s.compute == ComputeMode::tf32;
    const int products = tf32 ? 4 : k_step(s);
    return (k + products - 1) / products * 2 * (products + 2) + (tf32 ? 2 * (1 << 13) + 4 : 0);
}

// The error that the tuner allows products of planes (planes.cuh), in the same units. The first three terms are proven in
// docs/fp32-on-tensor-cores.md: planes that are not quite the operands, short sums over promote_k, and their compensated addition. The
// small products, summed over all of K, are given less than is proven, since on the data that the tuner multiplies they stay far below.
constexpr i64 longest_chain_of_planes(const KernelConfig& c, i64 k) {
    constexpr i64 instruction = 2 * (16 + 2);
    const i64 planes = c.planes == 2 ? 8 : 1;
    const i64 short_sum = c.promote_k / 16 * instruction;
    const i64 small = (k + 15) / 16 * instruction * (products(c.planes) - 1) / (c.planes == 2 ? 2048 : 256);
    return planes + short_sum + 8 + small + 4;
}

}  // namespace tmm::wgmma
