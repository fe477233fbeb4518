// The first step of a product by planes: divides each line of A and B by a power of two, and writes its elements as sums of 16-bit
// numbers (rules.h). Each is the rest of those before it rounded to nearest, so that only the last one's rounding is lost.
//
// The power depends on a line's largest element. So the blocks of a cluster, which share a tile of lines, first read their parts of
// them, then show each other the largest that they found, and then split:
//
//     block 0:  read, max |                  | split
//     block 1:  read, max | max of all ranks | split        a line of 2048:  | 0 | 1 | 2 | … | 7 |   tiles of 256 elements
//       …                 |                  |
#pragma once

#include "tmm/copy/previous_kernel.cuh"
#include "tmm/copy/shared_memory.cuh"
#include "tmm/number/element.cuh"
#include "tmm/ptx.cuh"
#include "tmm/steps/planes/rules.h"
#include "tmm/steps/planes/tile.cuh"

namespace tmm::planes {

constexpr unsigned kEveryLane = 0xffffffffu;

__device__ inline float power_of_two(int exponent) {
    return __int_as_float((127 + exponent) << 23);
}

// The exponent of the power of two to divide a line by, such that the power is a float, and so is its reciprocal.
__device__ inline int exponent_for(unsigned largest_bits, int top) {
    const int exponent = static_cast<int>(largest_bits >> 23) - 127 - top;
    return exponent < -126 ? -126 : exponent;
}

// Magnitudes are compared as bits, so that Inf is larger than numbers and NaN than Inf.
__device__ inline unsigned magnitude_bits(float value) {
    return static_cast<unsigned>(__float_as_int(value)) & 0x7fffffffu;
}
__device__ inline unsigned larger(unsigned a, unsigned b) {
    return a > b ? a : b;
}

template <int planes>
struct Split {
    using T = Element<type_of(planes)>;
    T plane[planes];

    __device__ explicit Split(float value) {
        plane[0] = from_float<T>(value);
        float rest = value - to_float(plane[0]);
        if constexpr (planes == 2) {
            plane[1] = from_float<T>(rest * 0x1p11f);
        } else {
            plane[1] = from_float<T>(rest);
            plane[2] = from_float<T>(rest - to_float(plane[1]));
        }
    }
};

// Shared memory by which the threads of a block tell each other what they found.
template <class Kernel>
struct Shared {
    // A block's tiles: as many as there is room for are kept from the search for the largest element to the split.
    SharedTiles<float> slots;
    // The bits of the largest magnitude of each line, as each warp found it; and as the block did, for the cluster to read.
    SharedTiles<unsigned> of_warp;
    unsigned* of_block;
    // The factor that each line is multiplied by.
    float* scale;
    // A word of the cluster's first block, not 0 when some thread has met a line that is unfit.
    unsigned* unfit;

    __device__ explicit Shared(SharedMemory& memory)
        : slots(memory.take<float, kTileLines * kTileDepth, Kernel::step.slots>()),
          of_warp(memory.take<unsigned, kTileLines, kWarps>()),
          of_block(memory.take<unsigned, kTileLines>()[0]),
          scale(memory.take<float, kTileLines>()[0]),
          unfit(memory.take<unsigned, 1>()[0]) {}
};

// One block's share of a tile of lines. The block takes every cluster-th of the tiles along them, from its rank on.
template <class Kernel, bool lines_are_rows, int align>
class LineTile {
public:
    __device__ LineTile(const float* source, const Operand& o, const PlanesOperand& to, i64 item, const Shared<Kernel>& shared)
        : o_(o),
          to_(to),
          shared_(shared),
          item_(item),
          matrix_(item / line_tiles(o) / o.parts),
          line0_(item % line_tiles(o) * kTileLines),
          depth_begin_(item / line_tiles(o) % o.parts * o.part_depth),
          depth_end_(depth_begin_ + o.part_depth < depth(o) ? depth_begin_ + o.part_depth : depth(o)),
          source_(source + matrix_ * o.stride),
          rank_(Kernel::step.cluster > 1 ? static_cast<int>(ptx::cluster_ctarank()) : 0) {}

    __device__ void split() {
        const int tiles = tiles_of_block();
        unsigned largest[most_lines] = {};
#pragma unroll
        for (int i = 0; i < Kernel::step.slots; ++i) start(i, tiles);
#pragma unroll 1
        for (int i = 0; i < tiles; ++i) {
            ptx::cp_async_wait_group<Kernel::step.slots - 1>();
            note(largest, i);
            start(i + Kernel::step.slots, tiles);
        }
        show(largest);
        find_scales();
        // The block goes backwards, since the tiles that were read last are still in shared memory.
        bool unfit = false;
#pragma unroll 1
        for (int i = tiles - 1; i >= 0; --i) {
            ptx::cp_async_wait_group<Kernel::step.slots - 1>();
            unfit |= write(i);
            start(i - Kernel::step.slots, tiles);
        }
        if (unfit) mark_unfit();
        // The marks are there, and what the blocks showed each other is read.
        meet();
        if (rank_ == 0 && threadIdx.x == 0) to_.unfit[item_] = *shared_.unfit;
    }

private:
    // Lines that a thread has elements of.
    static constexpr int most_lines = lines_are_rows ? kQuads / quads_per_line<true> : kQuad;
    __device__ static constexpr int line_of(int quad, int element) {
        return lines_are_rows ? quad / quads_per_line<true> : element;
    }

    __device__ static void sync() {
        if constexpr (Kernel::step.cluster > 1)
            ptx::cluster_sync();
        else
            __syncthreads();
    }
    // The same, but it does not wait for the planes to be written.
    __device__ static void meet() {
        if constexpr (Kernel::step.cluster > 1)
            ptx::cluster_meet();
        else
            __syncthreads();
    }

    __device__ int tiles_of_block() const {
        const i64 tiles = depth_end_ > depth_begin_ ? ceil_divide(depth_end_ - depth_begin_, kTileDepth) : 0;
        return rank_ < tiles ? static_cast<int>((tiles - rank_ + Kernel::step.cluster - 1) / Kernel::step.cluster) : 0;
    }
    // The place along the lines where the block's i-th tile begins.
    __device__ i64 depth0(int i) const {
        return depth_begin_ + (rank_ + static_cast<i64>(i) * Kernel::step.cluster) * kTileDepth;
    }
    __device__ i64 row0(int i) const {
        return lines_are_rows ? line0_ : depth0(i);
    }
    __device__ i64 column0(int i) const {
        return lines_are_rows ? depth0(i) : line0_;
    }
    __device__ i64 row_end() const {
        return lines_are_rows ? o_.rows : depth_end_;
    }
    __device__ i64 column_end() const {
        return lines_are_rows ? depth_end_ : o_.columns;
    }

    __device__ float* slot(int tile) const {
        return shared_.slots[tile % Kernel::step.slots];
    }
    // Starts the copy of a tile, if there is such a tile. Each call makes a group of copies, so that their count tells which tile has
    // landed.
    __device__ void start(int tile, int tiles) const {
        if (0 <= tile && tile < tiles)
            start_copy<lines_are_rows, align>(slot(tile), source_, o_.ld, row0(tile), column0(tile), row_end(), column_end());
        ptx::cp_async_commit_group();
    }

    __device__ void note(unsigned (&largest)[most_lines], int tile) const {
#pragma unroll
        for (int i = 0; i < kQuads; ++i) {
            const Vector<float, kQuad> quad = load_vector<kQuad>(quad_of_thread(slot(tile), i));
#pragma unroll
            for (int j = 0; j < kQuad; ++j) {
                unsigned& line = largest[line_of(i, j)];
                line = larger(line, magnitude_bits(quad.element[j]));
            }
        }
    }

    // Shows the block's largest magnitudes to the whole cluster.
    __device__ void show(unsigned (&largest)[most_lines]) const {
        const int thread = static_cast<int>(threadIdx.x);
        // Lanes so far apart, and farther, have the same lines.
        constexpr int first_sharer = lines_are_rows ? 1 : kTileLines / kQuad;
#pragma unroll
        for (int line = 0; line < most_lines; ++line) {
#pragma unroll
            for (int lane = first_sharer; lane < 32; lane *= 2)
                largest[line] = larger(largest[line], __shfl_xor_sync(kEveryLane, largest[line], lane));
        }
        if (thread % 32 < first_sharer) {
#pragma unroll
            for (int i = 0; i < most_lines; ++i) {
                if constexpr (lines_are_rows)
                    shared_.of_block[first_place<true>().row + offset_of_quad<true>(i * quads_per_line<true>).row] = largest[i];
                else
                    shared_.of_warp[thread / 32][first_place<false>().column + i] = largest[i];
            }
        }
        if constexpr (!lines_are_rows) {
            // Every warp's are there.
            __syncthreads();
            if (thread < kTileLines) {
                unsigned most = 0;
#pragma unroll
                for (int warp = 0; warp < kWarps; ++warp) most = larger(most, shared_.of_warp[warp][thread]);
                shared_.of_block[thread] = most;
            }
        }
        if (thread == 0) *shared_.unfit = 0;
        // Every block's are there.
        sync();
    }

    __device__ void find_scales() const {
        const int thread = static_cast<int>(threadIdx.x);
        if (thread < kTileLines) {
            unsigned largest = 0;
#pragma unroll
            for (int rank = 0; rank < Kernel::step.cluster; ++rank) largest = larger(largest, of_rank(shared_.of_block, rank)[thread]);
            const int exponent = exponent_for(largest, top_exponent(Kernel::step.planes));
            shared_.scale[thread] = power_of_two(-exponent);
            if (rank_ == 0 && line0_ + thread < lines(o_)) to_.exponents[item_ / line_tiles(o_) * lines(o_) + line0_ + thread] = exponent;
            constexpr unsigned infinity = 0x7f800000u;
            if (largest >= infinity) mark_unfit();
        }
        // Every line's scale is there.
        __syncthreads();
    }

    // Writes a tile's planes. True where too many of the thread's elements are short.
    __device__ bool write(int tile) const {
        using T = Element<type_of(Kernel::step.planes)>;
        const Place place = first_place<lines_are_rows>();
        const i64 row = row0(tile) + place.row;
        const i64 column = column0(tile) + place.column;
        const Extent extent(row_end() - row, column_end() - column);
        const i64 ld = pad::padded_ld(o_.columns, type_of(Kernel::step.planes));
        T* const first = static_cast<T*>(to_.planes) + (matrix_ * Kernel::step.planes * o_.rows + row) * ld + column;
        const float least = power_of_two(least_exponent(Kernel::step.planes));
        int short_elements = 0;
#pragma unroll
        for (int i = 0; i < kQuads; ++i) {
            const Place offset = offset_of_quad<lines_are_rows>(i);
            if (offset.row >= extent.rows || offset.column >= extent.columns) continue;
            // Columns past the last one are padding, and 0.
            const Vector<float, kQuad> quad = load_vector<kQuad>(quad_of_thread(slot(tile), i));
            Vector<T, kQuad> split[Kernel::step.planes];
#pragma unroll
            for (int j = 0; j < kQuad; ++j) {
                const float value = quad.element[j];
                const float scaled = value * shared_.scale[lines_are_rows ? place.row + offset.row : place.column + j];
                if (value != 0.0f && scaled < least && scaled > -least) ++short_elements;
                const Split<Kernel::step.planes> parts(scaled);
#pragma unroll
                for (int p = 0; p < Kernel::step.planes; ++p) split[p].element[j] = parts.plane[p];
            }
#pragma unroll
            for (int p = 0; p < Kernel::step.planes; ++p)
                store_vector_global(first + (p * o_.rows + offset.row) * ld + offset.column, split[p]);
        }
        return short_elements > kMostShort;
    }

    __device__ void mark_unfit() const {
        *const_cast<unsigned*>(of_rank(shared_.unfit, 0)) = 1;
        if constexpr (Kernel::step.cluster > 1) ptx::fence_acq_rel_cluster();
    }

    template <class T>
    __device__ static const T* of_rank(const T* shared, int rank) {
        if constexpr (Kernel::step.cluster > 1)
            return ptx::mapa(shared, rank);
        else
            return shared;
    }

    const Operand& o_;
    const PlanesOperand& to_;
    const Shared<Kernel>& shared_;
    i64 item_;
    i64 matrix_;
    i64 line0_;
    // The bounds of the part of K.
    i64 depth_begin_;
    i64 depth_end_;
    const float* source_;
    int rank_;
};

template <class Kernel>
__device__ void kernel(const PlanesArgs& args) {
    static_assert(first_violation(Kernel::step, Kernel::signature) == nullptr);
    wait_for_previous_kernel();
    SharedMemory memory;
    const Shared<Kernel> shared(memory);
    const Operand a = operand_a(args, Kernel::signature);
    const Operand b = operand_b(args, Kernel::signature);
    const i64 items_a = items(a, args.planes_a);
    const i64 all = items_a + items(b, args.planes_b);
    for (i64 item = blockIdx.x / Kernel::step.cluster; item < all; item += gridDim.x / Kernel::step.cluster) {
        if (item < items_a)
            LineTile<Kernel, Kernel::signature.op_a == Operation::none, Kernel::signature.align_a>(static_cast<const float*>(args.a), a,
                                                                                                   args.planes_a, item, shared)
                .split();
        else
            LineTile<Kernel, Kernel::signature.op_b == Operation::transpose, Kernel::signature.align_b>(
                static_cast<const float*>(args.b), b, args.planes_b, item - items_a, shared)
                .split();
    }
}

}  // namespace tmm::planes
