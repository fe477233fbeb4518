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
// The product may leave a strip of C, a few rows or columns beyond its tiles. They need all of an operand once more, and here it passes
// through registers anyway: each thread multiplies its k of a square with those of the other operand's few lines.
#pragma once

#include "tmm/copy/previous_kernel.cuh"
#include "tmm/copy/shared_memory.cuh"
#include "tmm/copy/vector.cuh"
#include "tmm/number/number.cuh"
#include "tmm/steps/pack/rules.h"
#include "tmm/vocabulary/args.h"

namespace tmm::pack {

// An operand whose copies have room for `lines` lines of `outer` elements, and where they go. The first `depth` of its k are copied, and as
// many lines are written as `written` says.
template <class T>
struct Operand {
    const T* matrix;
    i64 ld;
    i64 stride;
    i64 outer;
    i64 k;
    i64 depth;
    i64 lines;
    i64 written;
    T* packed;
    PackedStrip strip{};
};

// How much of a square lies within the operand's edges, and how many of its lines are written: the last square along K writes more than
// kTile where few are left beyond it.
struct SquareEdges {
    int outer;
    int k;
    int lines;
};
constexpr int up_to_a_square(i64 left) {
    return left < kTile ? static_cast<int>(left) : kTile;
}

// A square of a batch of operands: where it begins, in the matrix and in the copy, in the strip's few lines and in its sums.
template <class T>
struct Square {
    const T* from;
    T* to;
    SquareEdges edges;
    const T* few;
    T* sums;
};

// turned: the operand's rows run along K. 32 bits count the squares: copies have 1 KB for each at least, and where they have less (pad),
// wgmma counts its tiles so as well.
template <bool turned, class T>
__device__ inline Square<T> find_square(const Operand<T>& operand, unsigned number) {
    const unsigned across = static_cast<unsigned>((operand.outer + kTile - 1) / kTile);
    const unsigned along_k = static_cast<unsigned>(squares_along_k(operand.depth));
    const unsigned row_of_squares = number / across;
    const unsigned batch = row_of_squares / along_k;
    const i64 outer0 = i64{number - row_of_squares * across} * kTile;
    const unsigned place_along_k = row_of_squares - batch * along_k;
    const i64 k0 = i64{place_along_k} * kTile;
    const bool last = place_along_k + 1 == along_k;
    return {operand.matrix + batch * operand.stride + (turned ? outer0 * operand.ld + k0 : k0 * operand.ld + outer0),
            operand.packed + (batch * operand.lines + k0) * packed_ld(operand.outer) + outer0,
            {up_to_a_square(operand.outer - outer0), last ? static_cast<int>(operand.depth - k0) : kTile,
             last ? static_cast<int>(operand.written - k0) : kTile},
            static_cast<const T*>(operand.strip.few) + batch * operand.strip.stride + k0 * operand.strip.k_distance,
            static_cast<T*>(operand.strip.sums) +
                (batch * strip_parts(operand.k) + k0 / kTile * kRows) * operand.strip.lines * workspace_ld(operand.outer) + outer0};
}

// Shared memory in which a block brings together what its threads hold of a square.
template <class T>
struct SharedSquare {
    T* turning;
    // A strip's few lines, kFewOfLine elements of each.
    T* few;
};

// A thread's place in a square: it copies kOfRow k of one outer line, and where few are left beyond the square one more.
struct PlaceInSquare {
    int lane = static_cast<int>(threadIdx.x) % kTile;
    int row = static_cast<int>(threadIdx.x) / kTile;
};

// The elements of the strip's few lines that the thread brings.
template <class T>
struct FewOfThread {
    T in_square = 0;
    T beyond = 0;

    __device__ FewOfThread(const Square<T>& square, const PackedStrip& strip) {
        const PlaceInSquare place;
        const auto element = [&](int k) {
            const bool exists = place.row < strip.lines && k < square.edges.k;
            return exists ? square.few[place.row * strip.line_distance + k * strip.k_distance] : 0;
        };
        in_square = element(place.lane);
        if (place.lane < kRows) beyond = element(kTile + place.lane);
    }
    __device__ void store(T* few) const {
        const PlaceInSquare place;
        few[place.row * kFewOfLine + place.lane] = in_square;
        if (place.lane < kRows) few[place.row * kFewOfLine + kTile + place.lane] = beyond;
    }
};

// values, beyond: what the thread copies.
template <class T>
__device__ inline void multiply_strip(const Square<T>& square, const PackedStrip& strip, i64 sums_ld, const T (&values)[kOfRow], T beyond,
                                      const T* few) {
    const auto [lane, row] = PlaceInSquare{};
#pragma unroll 1
    for (int line = 0; line < strip.lines; ++line, few += kFewOfLine) {
        T sum = beyond * few[kTile + row];
#pragma unroll
        for (int i = 0; i < kOfRow; i += kVector) {
            const Vector<T, kVector> four = load_vector<kVector>(few + row * kOfRow + i);
#pragma unroll
            for (int j = 0; j < kVector; ++j) sum = multiply_add(values[i + j], four.element[j], sum);
        }
        if (lane < square.edges.outer) square.sums[(row * strip.lines + line) * sums_ld + lane] = sum;
    }
}

// All of a square's elements are under way at once. inside: no edge cuts it.
template <bool turned, bool inside, bool with_strip, class T>
__device__ inline void copy_elements(const Square<T>& square, const Operand<T>& operand, const SharedSquare<T>& shared) {
    const i64 ld = operand.ld;
    const i64 packed_ld = tmm::packed_ld(operand.outer);
    const auto [lane, row] = PlaceInSquare{};
    const SquareEdges& edges = square.edges;
    const int rows = turned ? edges.outer : edges.k;
    const int columns = turned ? edges.k : edges.outer;
    T values[kOfRow];
    const T* from = square.from + row * kOfRow * ld + lane;
#pragma unroll
    for (int i = 0; i < kOfRow; ++i, from += ld) values[i] = inside || (row * kOfRow + i < rows && lane < columns) ? *from : 0;
    T beyond = 0;
    if (!inside && row + kTile < edges.k && lane < edges.outer)
        beyond = square.from[turned ? lane * ld + row + kTile : (row + kTile) * ld + lane];
    if constexpr (with_strip) {
        const FewOfThread<T> few(square, operand.strip);
        // The few lines of the last square have been read before they are written anew.
        __syncthreads();
        few.store(shared.few);
    } else if constexpr (turned) {
        // The last square has been read before this one is written.
        __syncthreads();
    }
    if constexpr (turned) {
#pragma unroll
        for (int i = 0; i < kOfRow; ++i) shared.turning[(row * kOfRow + i) * (kTile + 1) + lane] = values[i];
    }
    // The square is complete before its columns are read, and so are the few lines.
    if constexpr (turned || with_strip) __syncthreads();
    if constexpr (turned) {
#pragma unroll
        for (int i = 0; i < kOfRow; ++i) values[i] = shared.turning[lane * (kTile + 1) + row * kOfRow + i];
    }
    T* to = square.to + row * kOfRow * packed_ld + lane;
#pragma unroll
    for (int i = 0; i < kOfRow; ++i, to += packed_ld) {
        if (inside || (row * kOfRow + i < edges.lines && lane < edges.outer)) *to = values[i];
    }
    if constexpr (!inside) {
        to = square.to + (row + kTile) * packed_ld + lane;
        for (int i = kTile; row + i < edges.lines && lane < edges.outer; i += kRows, to += kRows * packed_ld) *to = i == kTile ? beyond : 0;
    }
    if constexpr (with_strip) multiply_strip(square, operand.strip, workspace_ld(operand.outer), values, beyond, shared.few);
}

template <bool turned, bool with_strip, class T>
__device__ inline void copy_square(const Operand<T>& operand, const Square<T>& square, const SharedSquare<T>& shared) {
    const SquareEdges& edges = square.edges;
    if (edges.outer == kTile && edges.k == kTile && edges.lines == kTile)
        copy_elements<turned, true, with_strip>(square, operand, shared);
    else
        copy_elements<turned, false, with_strip>(square, operand, shared);
}

template <class Kernel>
__device__ void kernel(const PackArgs& args) {
    static_assert(first_violation(Kernel::step, Kernel::signature) == nullptr);
    constexpr bool turned_a = Kernel::signature.op_a == Operation::none;
    constexpr bool turned_b = Kernel::signature.op_b == Operation::transpose;
    const i64 lines = packed_depth(args.k);
    const i64 depth = args.depth < args.k ? args.depth : args.k;
    const i64 written = args.depth < args.k ? args.depth : args.lines;
    // A strip's sums have the type of A's and B's elements.
    using T = SumOf<Kernel>;
    T* const packed_a = static_cast<T*>(args.workspace);
    T* const packed_b = packed_a + (Kernel::step.a ? packed_elements(args.m, args.k, args.batch) : 0);
    const Operand<T> a{
        static_cast<const T*>(args.a), args.lda, args.stride_a, args.m, args.k, depth, lines, written, packed_a, args.with_a};
    const Operand<T> b{
        static_cast<const T*>(args.b), args.ldb, args.stride_b, args.n, args.k, depth, lines, written, packed_b, args.with_b};
    const unsigned squares_a = Kernel::step.a ? static_cast<unsigned>(tiles(args.m, depth, args.batch)) : 0;
    const unsigned squares = squares_a + (Kernel::step.b ? static_cast<unsigned>(tiles(args.n, depth, args.batch)) : 0);
    const auto find = [&](unsigned number) {
        return number < squares_a ? find_square<turned_a>(a, number) : find_square<turned_b>(b, number - squares_a);
    };
    // The block's first square is found while the kernel before this one ends.
    Square<T> square = blockIdx.x < squares ? find(blockIdx.x) : Square<T>{};
    wait_for_previous_kernel();
    if (args.squares && blockIdx.x == 0 && threadIdx.x < kMostPackers) args.squares[threadIdx.x] = 0;
    SharedMemory memory;
    SharedSquare<T> shared{.turning = memory.take<T, kSquareElements>()[0], .few = nullptr};
    if constexpr (Kernel::step.strips) shared.few = memory.take<T, kMostStripLines * kFewOfLine>()[0];
    for (unsigned number = blockIdx.x; number < squares;) {
        if (number < squares_a)
            copy_square<turned_a, Kernel::step.strips>(a, square, shared);
        else
            copy_square<turned_b, Kernel::step.strips>(b, square, shared);
        number += gridDim.x;
        if (number < squares) square = find(number);
    }
}

}  // namespace tmm::pack
