// The first step of a product whose operands lie badly: rows that do not start at multiples of 16 bytes, or that run along K. It
// copies A, B or both into the workspace as simt reads them best, k lines of m or n elements, each line aligned.
//
//   A (m x k), rows along K:              packed: k lines along m
//
//        k ->                                   m ->
//    m | a00 a01 a02 …                    k | a00 a10 a20 …
//      v a10 a11 a12 …        ----->        v a01 a11 a21 …
//
// Such a matrix goes through a square in shared memory, so that both sides are read and written along their rows. Lines past K, up to whole
// squares, are zeros: they add nothing to the sums of tiles that reach so far.
//
// Of C the product may leave a strip, a few rows or columns beyond its tiles. They need all of an operand once more, and here it passes
// through registers anyway: each thread multiplies its k of a square with those of the other operand's few lines.
#pragma once

#include "tmm/args.h"
#include "tmm/pack.h"
#include "tmm/previous_kernel.cuh"
#include "tmm/shared_memory.cuh"

namespace tmm::pack {

// An operand whose copies have `lines` lines of `outer` elements, and where they go. The first `depth` of its k are copied.
struct Operand {
    const float* matrix;
    i64 ld;
    i64 stride;
    i64 outer;
    i64 k;
    i64 depth;
    i64 lines;
    float* packed;
    PackedStrip strip{};
};

// How much of a square stands before the operand's edges, and how many of its lines before the copy's.
struct SquareEdges {
    int outer;
    int k;
    int lines;
};
constexpr int up_to_a_square(i64 left) {
    return left < kTile ? static_cast<int>(left) : kTile;
}

// A square of a batch of operands: where it begins, in the matrix and in the copy, in the strip's few lines and in its sums.
struct Square {
    const float* from;
    float* to;
    SquareEdges edges;
    const float* few;
    float* sums;
};

// turned: the operand's rows run along K. 32 bits count the squares: copies have 1 KB for each at least, and where they have less (pad),
// wgmma counts its tiles so as well.
template <bool turned>
__device__ inline Square find_square(const Operand& operand, unsigned number) {
    const unsigned across = static_cast<unsigned>((operand.outer + kTile - 1) / kTile);
    const unsigned along_k = static_cast<unsigned>((operand.depth + kTile - 1) / kTile);
    const unsigned row_of_squares = number / across;
    const unsigned batch = row_of_squares / along_k;
    const i64 outer0 = i64{number - row_of_squares * across} * kTile;
    const i64 k0 = i64{row_of_squares - batch * along_k} * kTile;
    return {operand.matrix + batch * operand.stride + (turned ? outer0 * operand.ld + k0 : k0 * operand.ld + outer0),
            operand.packed + (batch * operand.lines + k0) * packed_ld(operand.outer) + outer0,
            {up_to_a_square(operand.outer - outer0), up_to_a_square(operand.k - k0), up_to_a_square(operand.lines - k0)},
            operand.strip.few + batch * operand.strip.stride + k0 * operand.strip.k_distance,
            operand.strip.sums + (batch * strip_parts(operand.k) + k0 / kTile * kRows) * operand.strip.lines * workspace_ld(operand.outer) +
                outer0};
}

// Of a strip's few lines in a square, those k that the thread's row multiplies, shared out among the lanes of a warp: a half of them holds
// those of every other line.
struct FewOfRow {
    static constexpr int count = kTile / kRows;
    static_assert(2 * count == 32);
    float values[kMostStripLines / 2];

    __device__ void load(const Square& square, const PackedStrip& strip) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const int k = static_cast<int>(threadIdx.x) / kTile + lane % count * kRows;
#pragma unroll
        for (int pair = 0; pair < kMostStripLines / 2; ++pair) {
            const int line = 2 * pair + lane / count;
            const bool exists = line < strip.lines && k < square.edges.k;
            values[pair] = exists ? square.few[line * strip.line_distance + k * strip.k_distance] : 0;
        }
    }
    // By all lanes of a warp.
    __device__ float operator()(int line, int i) const {
        return __shfl_sync(0xffffffffu, values[line / 2], line % 2 * count + i);
    }
};

// values: of one line of the square's outer ones every kRows-th k, from the thread's row on.
__device__ inline void multiply_strip(const Square& square, const PackedStrip& strip, i64 sums_ld, const float (&values)[kTile / kRows],
                                      const FewOfRow& few) {
    const int lane = static_cast<int>(threadIdx.x) % kTile;
    const int row = static_cast<int>(threadIdx.x) / kTile;
#pragma unroll
    for (int line = 0; line < kMostStripLines; ++line) {
        if (line >= strip.lines) return;
        float sum = 0;
#pragma unroll
        for (int i = 0; i < kTile / kRows; ++i) sum = fmaf(values[i], few(line, i), sum);
        if (lane < square.edges.outer) square.sums[(row * strip.lines + line) * sums_ld + lane] = sum;
    }
}

// All of a square's elements are under way at once. inside: no edge cuts it.
template <bool turned, bool inside, bool with_strip>
__device__ inline void copy_elements(const Square& square, const Operand& operand, float* shared) {
    const i64 ld = operand.ld;
    const i64 packed_ld = tmm::packed_ld(operand.outer);
    const int lane = static_cast<int>(threadIdx.x) % kTile;
    const int row = static_cast<int>(threadIdx.x) / kTile;
    const SquareEdges& edges = square.edges;
    const int rows = turned ? edges.outer : edges.k;
    const int columns = turned ? edges.k : edges.outer;
    float values[kTile / kRows];
    const float* from = square.from + row * ld + lane;
#pragma unroll
    for (int i = 0; i < kTile; i += kRows, from += kRows * ld) values[i / kRows] = inside || (row + i < rows && lane < columns) ? *from : 0;
    FewOfRow few;
    if constexpr (with_strip) few.load(square, operand.strip);
    if constexpr (turned) {
        // The last square has been read before this one is written.
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kTile; i += kRows) shared[(row + i) * (kTile + 1) + lane] = values[i / kRows];
        // The square is complete before its columns are read.
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kTile; i += kRows) values[i / kRows] = shared[lane * (kTile + 1) + row + i];
    }
    float* to = square.to + row * packed_ld + lane;
#pragma unroll
    for (int i = 0; i < kTile; i += kRows, to += kRows * packed_ld) {
        if (inside || (row + i < edges.lines && lane < edges.outer)) *to = values[i / kRows];
    }
    if constexpr (with_strip) multiply_strip(square, operand.strip, workspace_ld(operand.outer), values, few);
}

template <bool turned, bool with_strip>
__device__ inline void copy_square(const Operand& operand, const Square& square, float* shared) {
    if (square.edges.outer == kTile && square.edges.k == kTile)
        copy_elements<turned, true, with_strip>(square, operand, shared);
    else
        copy_elements<turned, false, with_strip>(square, operand, shared);
}

template <KernelSignature signature, KernelConfig config>
__device__ void kernel(const PackArgs& args) {
    static_assert(first_violation(config, signature) == nullptr);
    constexpr bool turned_a = signature.op_a == Operation::none;
    constexpr bool turned_b = signature.op_b == Operation::transpose;
    const i64 lines = packed_depth(args.k);
    const i64 depth = args.depth < args.k ? args.depth : args.k;
    float* const packed_a = static_cast<float*>(args.workspace);
    float* const packed_b = packed_a + (packs_a(config) ? packed_elements(args.m, args.k, args.batch) : 0);
    const Operand a{static_cast<const float*>(args.a), args.lda, args.stride_a, args.m, args.k, depth, lines, packed_a, args.with_a};
    const Operand b{static_cast<const float*>(args.b), args.ldb, args.stride_b, args.n, args.k, depth, lines, packed_b, args.with_b};
    const unsigned squares_a = packs_a(config) ? static_cast<unsigned>(tiles(args.m, depth, args.batch)) : 0;
    const unsigned squares = squares_a + (packs_b(config) ? static_cast<unsigned>(tiles(args.n, depth, args.batch)) : 0);
    const auto find = [&](unsigned number) {
        return number < squares_a ? find_square<turned_a>(a, number) : find_square<turned_b>(b, number - squares_a);
    };
    // The first is found while the kernel before this one ends.
    Square square = blockIdx.x < squares ? find(blockIdx.x) : Square{};
    wait_for_previous_kernel();
    if (args.squares && blockIdx.x == 0 && threadIdx.x < kMostPackers) args.squares[threadIdx.x] = 0;
    SharedMemory shared;
    float* const turning = shared.take<float, kSquareElements>()[0];
    for (unsigned number = blockIdx.x; number < squares;) {
        if (number < squares_a)
            copy_square<turned_a, multiplies_strips(config)>(a, square, turning);
        else
            copy_square<turned_b, multiplies_strips(config)>(b, square, turning);
        number += gridDim.x;
        if (number < squares) square = find(number);
    }
}

}  // namespace tmm::pack
