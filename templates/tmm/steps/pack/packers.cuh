// Some blocks of a product pack its operands' later lines while the others multiply the first ones. They run on SMs, or places of SMs, that
// the product's last wave would leave idle. The kernel before (kernel.cuh) has packed the first lines.
//
//     k ->        | first lines |  row 0  |  row 1  |  row 2  | …       rows of squares, 64 k each, of A and then of B
//     packed by   |    pack     | 0 1 2 0 | 1 2 0 1 | 2 0 1 2 | …       packers, in turn
//
// Each packer counts its squares in global memory. They are packed in one order, so that the least that any of them has left says how far
// the operands are there. A packer waits for nobody, and packers are the first blocks of the grid. GPUs begin a grid's blocks in the order
// of their numbers: whoever waits for packers waits for blocks that run or have run.
#pragma once

#include "tmm/copy/shared_memory.cuh"
#include "tmm/copy/vector.cuh"
#include "tmm/ptx.cuh"
#include "tmm/steps/pack/kernel.cuh"
#include "tmm/steps/pack/rules.h"

namespace tmm::pack {

// Squares of A in a row of squares, where A is packed, and squares of both operands in it.
template <class Kernel>
__device__ inline unsigned squares_of_a(i64 m) {
    return packs_a(Kernel::config) ? static_cast<unsigned>((m + kTile - 1) / kTile) : 0;
}
template <class Kernel>
__device__ inline unsigned squares_of_row(i64 m, i64 n) {
    return squares_of_a<Kernel>(m) + (packs_b(Kernel::config) ? static_cast<unsigned>((n + kTile - 1) / kTile) : 0);
}

// A block's share of the squares. Its `threads` threads copy each square by asynchronous copies to a ring of `stages` in shared memory, and
// write it as lines along M or N.
template <class Kernel, int threads, int stages>
class Packer {
    static_assert(can_pack(threads) && stages >= 2);

public:
    __device__ Packer(const PackersArgs& packers, i64 m, i64 n, i64 k, SharedTiles<float> squares)
        : packers_(packers),
          m_(m),
          n_(n),
          k_(k),
          across_a_(squares_of_a<Kernel>(m)),
          across_(squares_of_row<Kernel>(m, n)),
          rows_(static_cast<unsigned>((k + kTile - 1) / kTile)),
          squares_(squares) {}

    __device__ void run() {
        // Where nothing is multiplied, there is no operand.
        if (static_cast<unsigned>(packers_.first_row) >= rows_) return;
        Cursor next = cursor_at(blockIdx.x);
        Cursor now = next;
        for (int stage = 0; stage < stages - 1; ++stage) bring(next, stage);
        unsigned packed = 0;
        int stage = 0;
        while (now.row < rows_) {
            ptx::cp_async_wait_group<stages - 2>();
            // The square has landed, and everyone has read the one before it, whose stage is the next to be filled.
            __syncthreads();
            bring(next, stage == 0 ? stages - 1 : stage - 1);
            write(square(now), squares_[stage]);
            stage = stage + 1 == stages ? 0 : stage + 1;
            advance(now);
            ++packed;
            if (packed % kPublishedTogether == 0 || now.row >= rows_) publish(packed);
        }
    }

private:
    struct TurnedSquare : Square<float> {
        bool turned;
        // Whether the square is copied by 16 bytes: it is turned, and its rows are aligned so.
        bool vectors;
        i64 ld;
        i64 packed_ld;
    };

    // A square's row of squares, and its place in that row: A's squares come first, and then B's.
    struct Cursor {
        unsigned row;
        unsigned place;
    };
    __device__ Cursor cursor_at(unsigned number) const {
        return {static_cast<unsigned>(packers_.first_row) + number / across_, number % across_};
    }
    // Moves to the packer's next square. A division would cost as much as all that is done with the square.
    __device__ void advance(Cursor& cursor) const {
        cursor.place += static_cast<unsigned>(packers_.blocks);
        while (cursor.place >= across_) {
            cursor.place -= across_;
            ++cursor.row;
        }
    }

    __device__ TurnedSquare square(const Cursor& cursor) const {
        const bool in_a = cursor.place < across_a_;
        const unsigned place = in_a ? cursor.place : cursor.place - across_a_;
        const i64 outer = in_a ? m_ : n_;
        const i64 ld = in_a ? packers_.lda : packers_.ldb;
        const bool turned = in_a ? packers_.turned_a : packers_.turned_b;
        const i64 outer0 = i64{place} * kTile;
        const i64 k0 = i64{cursor.row} * kTile;
        TurnedSquare found;
        found.from = (in_a ? packers_.a : packers_.b) + (turned ? outer0 * ld + k0 : k0 * ld + outer0);
        found.to = (in_a ? packers_.packed_a : packers_.packed_b) + k0 * packed_ld(outer) + outer0;
        found.edges = {up_to_a_square(outer - outer0), up_to_a_square(k_ - k0), kTile};
        found.turned = turned;
        found.vectors = in_a ? packers_.vectors_a : packers_.vectors_b;
        found.ld = ld;
        found.packed_ld = packed_ld(outer);
        return found;
    }

    // Brings a square as it lies in the matrix, with zeros beyond its edges. Each call makes a group of copies, which is empty where there
    // are no more squares.
    __device__ void bring(Cursor& cursor, int stage) const {
        if (cursor.row < rows_) {
            const TurnedSquare from = square(cursor);
            const bool inside = from.edges.outer == kTile && from.edges.k == kTile;
            if (from.vectors)
                inside ? bring_vectors<true>(from, squares_[stage]) : bring_vectors<false>(from, squares_[stage]);
            else
                inside ? bring_elements<true>(from, squares_[stage]) : bring_elements<false>(from, squares_[stage]);
        }
        ptx::cp_async_commit_group();
        advance(cursor);
    }

    // A row's vectors change places with the row's number, so that the same vectors of neighbouring rows meet in no bank.
    static constexpr int kVectors = kTile / kVector;
    __device__ static int place_of_vector(int row, int vector) { return row * kTile + (vector ^ (row % kVectors)) * kVector; }

    template <bool inside>
    __device__ static void bring_vectors(const TurnedSquare& from, float* to) {
        constexpr int rows_at_once = threads / kVectors;
        const int row = static_cast<int>(threadIdx.x) / kVectors;
        const int vector = static_cast<int>(threadIdx.x) % kVectors;
        const float* source = from.from + row * from.ld + vector * kVector;
        const int left = from.edges.k - vector * kVector;
        const int columns = inside || left >= kVector ? kVector : left < 0 ? 0 : left;
#pragma unroll
        for (int i = 0; i < kTile; i += rows_at_once, source += rows_at_once * from.ld) {
            const bool exists = inside || (row + i < from.edges.outer && columns > 0);
            ptx::cp_async_16(to + place_of_vector(row + i, vector), exists ? source : from.from, exists ? columns * 4 : 0);
        }
    }
    template <bool inside>
    __device__ static void bring_elements(const TurnedSquare& from, float* to) {
        constexpr int rows_at_once = threads / kTile;
        const int row = static_cast<int>(threadIdx.x) / kTile;
        const int column = static_cast<int>(threadIdx.x) % kTile;
        const int rows = from.turned ? from.edges.outer : from.edges.k;
        const int columns = from.turned ? from.edges.k : from.edges.outer;
        const float* source = from.from + row * from.ld + column;
#pragma unroll
        for (int i = 0; i < kTile; i += rows_at_once, source += rows_at_once * from.ld) {
            const bool exists = inside || (row + i < rows && column < columns);
            ptx::cp_async_4(to + (row + i) * (kTile + 1) + column, exists ? source : from.from, exists ? 4 : 0);
        }
    }

    __device__ static void write(const TurnedSquare& to, const float* from) {
        if (to.vectors)
            write_vectors(to, from);
        else
            write_elements(to, from);
    }
    // A warp takes 32 neighbouring elements of four lines at a time.
    __device__ static void write_vectors(const TurnedSquare& to, const float* from) {
        constexpr int warps = threads / 32;
        constexpr int warps_across = kTile / 32;
        const int warp = static_cast<int>(threadIdx.x) / 32;
        const int element = warp % warps_across * 32 + static_cast<int>(threadIdx.x) % 32;
        const bool exists = element < to.edges.outer;
        float* line = to.to + warp / warps_across * kVector * to.packed_ld + element;
#pragma unroll
        for (int vector = 0; vector < kVectors; vector += warps / warps_across) {
            const Vector<float, kVector> values = load_vector<kVector>(from + place_of_vector(element, vector + warp / warps_across));
#pragma unroll
            for (int i = 0; i < kVector; ++i)
                if (exists) line[i * to.packed_ld] = values.element[i];
            line += warps / warps_across * kVector * to.packed_ld;
        }
    }
    __device__ static void write_elements(const TurnedSquare& to, const float* from) {
        constexpr int lines_at_once = threads / kTile;
        const int line = static_cast<int>(threadIdx.x) / kTile;
        const int element = static_cast<int>(threadIdx.x) % kTile;
        const int distance = to.turned ? 1 : kTile + 1;
        const float* source = from + line * distance + element * (to.turned ? kTile + 1 : 1);
        float* destination = to.to + line * to.packed_ld + element;
        if (element >= to.edges.outer) return;
#pragma unroll
        for (int i = 0; i < kTile; i += lines_at_once, source += lines_at_once * distance, destination += lines_at_once * to.packed_ld)
            *destination = *source;
    }

    // Makes the squares that all threads have packed so far visible to other blocks.
    __device__ void publish(unsigned packed) const {
        ptx::fence_proxy_async_global();
        __syncthreads();
        if (threadIdx.x == 0) ptx::st_release_gpu(packers_.squares + blockIdx.x, packed);
    }

    // Squares are published several at a time, since waiting for what was written means waiting for memory.
    static constexpr unsigned kPublishedTogether = 4;

    const PackersArgs& packers_;
    i64 m_;
    i64 n_;
    i64 k_;
    unsigned across_a_;
    unsigned across_;
    unsigned rows_;
    SharedTiles<float> squares_;
};

// How far the operands' lines are packed, as far as a warp knows.
template <class Kernel>
class PackedRows {
public:
    __device__ PackedRows(const PackersArgs& packers, i64 m, i64 n)
        : packers_(packers), across_(squares_of_row<Kernel>(m, n)), there_(packers.first_row) {}

    // All lanes of a warp call this. On return the lines of k are packed, and the copy engine sees them, too.
    __device__ void wait_for(int k) {
        const int row = k / kTile;
        if (row < there_) return;
        const unsigned lane = threadIdx.x % 32;
        const unsigned packers = static_cast<unsigned>(packers_.blocks);
        do {
            // The lane's packer has packed all of its own squares before the one of this number.
            const unsigned done = lane < packers ? ptx::ld_acquire_gpu(packers_.squares + lane) * packers + lane : 0xffffffffu;
            there_ = packers_.first_row + static_cast<int>(ptx::redux_min(done) / across_);
        } while (row >= there_);
        // Any lane may bring what one of them knows to be there.
        __syncwarp();
        ptx::fence_proxy_async_global();
    }

private:
    const PackersArgs& packers_;
    unsigned across_;
    int there_;
};

// The tiles of an item of work, in stretches: before each stretch the warps ask whether its lines are packed. To ask before each tile costs
// 2%: ptxas then holds what the tiles' loop goes by in other registers.
template <class Kernel>
class PackedStretches {
public:
    __device__ PackedStretches(const PackersArgs& packers, i64 m, i64 n, int tiles) : rows_(packers, m, n), tiles_(tiles) {}

    // The end of the stretch that begins with the tile, out of so many tiles.
    __device__ int end_of(int tile, int tiles) const {
        constexpr int length = 2 * kTile / Kernel::config.block_k;
        return tile + length < tiles ? tile + length : tiles;
    }
    // On return all lines that are brought before that end are packed, also those of the stages that follow.
    __device__ void wait_for(int tile) {
        const int end = end_of(tile, tiles_) + Kernel::config.stages;
        rows_.wait_for((end < tiles_ ? end : tiles_) * Kernel::config.block_k - 1);
    }

private:
    PackedRows<Kernel> rows_;
    int tiles_;
};

// Used where all is packed before the kernel begins.
struct NoStretches {
    __device__ void wait_for(int) {}
};

}  // namespace tmm::pack
