// Brings tiles of A and B from global to shared memory while the tiles before them are multiplied.
//
// A family says with a layout what a tile is like in shared memory: members rows_along_k, outer, depth, vector, access, async_copy,
// padded, and the functions matrix_rows(), matrix_columns(), moves_vectors() and element_offset().
#pragma once

#include "tmm/copy/shared_memory.cuh"
#include "tmm/copy/vector.cuh"
#include "tmm/ptx.cuh"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// Copies one operand's tiles, one tile after the other along K. Each thread moves vectors at the same `copies` places of every tile. Past
// the end of K zeros take the matrix's place. Past its last row or column of C any values will do, since the results are not stored:
// elements that exist are copied once more.
template <class T, const auto& layout, int threads, class Kernel>
class TileCopy {
public:
    static constexpr bool async_copy = layout.async_copy;
    static constexpr int vector = layout.vector;
    static constexpr int vectors_per_row = matrix_columns(layout) / vector;
    static constexpr int rows_per_pass = threads / vectors_per_row;
    static constexpr int copies = (matrix_rows(layout) + rows_per_pass - 1) / rows_per_pass;
    // Threads beyond the whole rows of a pass copy nothing.
    static constexpr bool has_idle_threads = threads % vectors_per_row != 0;
    static constexpr bool has_edges = Kernel::config.boundary != boundary::exact && !layout.padded;
    using Element = T;
    using Registers = Vector<T, vector>[copies];

    // outer0: the tile's first row or column of C; outer_end: where the matrix ends.
    __device__ TileCopy(const T* matrix, i64 ld, i64 outer0, i64 outer_end, i64 k_begin, i64 k_end)
        : ld_(ld),
          row_(static_cast<int>(threadIdx.x) / vectors_per_row),
          column_(static_cast<int>(threadIdx.x) % vectors_per_row * vector),
          outer_left_(outer_end - outer0 < layout.outer ? static_cast<int>(outer_end - outer0) : layout.outer),
          k_left_(static_cast<int>(k_end - k_begin)) {
        if constexpr (layout.rows_along_k) {
            const int row = has_edges && row_ >= outer_left_ ? outer_left_ - 1 : row_;
            next_ = matrix + (outer0 + row) * ld + k_begin + column_;
        } else {
            const int column = has_edges && column_ >= outer_left_ ? 0 : column_;
            next_ = matrix + (k_begin + row_) * ld + outer0 + column;
            outer_valid_ = outer_left_ - column < vector ? outer_left_ - column : vector;
        }
    }

    // Starts the background copy of the next tile.
    __device__ void start(T* tile) {
        with_checks([&]<bool k_ends, bool outer_ends> {
            const T* source = next_;
#pragma unroll
            for (int i = 0; i < copies; ++i) {
                if (!is_in_tile(i)) break;
                // Where nothing is valid the address is not followed.
                const int valid = valid_elements<k_ends, outer_ends>(i);
                constexpr int bytes = sizeof(T);
                if constexpr (vector * bytes == 16)
                    ptx::cp_async_16(destination(tile, i, 0), source, valid * bytes);
                else if constexpr (vector * bytes == 8)
                    ptx::cp_async_8(destination(tile, i, 0), source, valid * bytes);
                else
                    ptx::cp_async_4(destination(tile, i, 0), source, valid * bytes);
                source = following<outer_ends>(source, i);
            }
        });
        advance();
    }

    // The same through registers, in two halves: load() and store().
    __device__ void load(Registers& registers) {
        with_checks([&]<bool k_ends, bool outer_ends> {
            constexpr int access = layout.access;
            const T* source = next_;
#pragma unroll
            for (int i = 0; i < copies; ++i) {
                if (!is_in_tile(i)) break;
                const int valid = valid_elements<k_ends, outer_ends>(i);
                if (access == vector && valid == vector) {
                    registers[i] = load_vector<vector>(source);
                } else {
#pragma unroll
                    for (int j = 0; j < vector; ++j) registers[i].element[j] = j < valid ? source[j] : T{};
                }
                source = following<outer_ends>(source, i);
            }
        });
        advance();
    }
    __device__ void store(T* tile, const Registers& registers) const {
#pragma unroll
        for (int i = 0; i < copies; ++i) {
            if (!is_in_tile(i)) break;
            if constexpr (moves_vectors(layout)) {
                store_vector(destination(tile, i, 0), registers[i]);
            } else {
#pragma unroll
                for (int j = 0; j < vector; ++j) *destination(tile, i, j) = registers[i].element[j];
            }
        }
    }

protected:
    // Calls copy with what ends within the next tile: K, which only the last tile sees, or M or N, or a vector along them.
    template <class Copy>
    __device__ void with_checks(Copy&& copy) const {
        if constexpr (!has_edges) {
            copy.template operator()<false, false>();
        } else if constexpr (Kernel::config.boundary == boundary::guarded) {
            copy.template operator()<true, true>();
        } else {
            if (k_left_ < Kernel::config.block_k)
                copy.template operator()<true, true>();
            else if (layout.rows_along_k ? outer_left_ < layout.outer : outer_left_ % vector != 0)
                copy.template operator()<false, true>();
            else
                copy.template operator()<false, false>();
        }
    }

    __device__ void advance() {
        next_ += layout.rows_along_k ? Kernel::config.block_k : Kernel::config.block_k * ld_;
        k_left_ -= Kernel::config.block_k;
    }

    // The last of a thread's copies may find no row of the tile left.
    __device__ bool is_in_tile(int i) const {
        if (has_idle_threads && row_ >= rows_per_pass) return false;
        return matrix_rows(layout) % rows_per_pass == 0 || row_ + i * rows_per_pass < matrix_rows(layout);
    }

    // The source of the vector after the i-th.
    template <bool outer_ends>
    __device__ const T* following(const T* source, int i) const {
        if (outer_ends && layout.rows_along_k && row_ + (i + 1) * rows_per_pass >= outer_left_) return source;
        return source + rows_per_pass * ld_;
    }

    // The destination of element j of the i-th vector.
    __device__ T* destination(T* tile, int i, int j) const {
        return tile + element_offset(layout, row_ + i * rows_per_pass, column_ + j);
    }

    // How many of the i-th vector's elements exist.
    template <bool k_ends, bool outer_ends>
    __device__ int valid_elements(int i) const {
        if constexpr (layout.rows_along_k) {
            if (!k_ends || k_left_ - column_ >= vector) return vector;
            return k_left_ > column_ ? k_left_ - column_ : 0;
        } else {
            if (k_ends && row_ + i * rows_per_pass >= k_left_) return 0;
            return outer_ends ? outer_valid_ : vector;
        }
    }

    i64 ld_;
    int row_;
    int column_;
    // Rows or columns of C in this tile, and how many of them the thread's vectors hold where they run along them.
    int outer_left_;
    int outer_valid_ = vector;
    int k_left_;
    // The thread's first element of the next tile.
    const T* next_;
};

// The ring of tiles in shared memory, `stages` of A and as many of B: one tile is multiplied while the others are under way. Of an operand
// that travels through registers only the next tile is under way.
template <class CopyA, class CopyB, int stages>
class TilePipeline {
public:
    using A = typename CopyA::Element;
    using B = typename CopyB::Element;

    // tiles: how many there are of each operand.
    __device__ TilePipeline(const CopyA& copy_a, const CopyB& copy_b, SharedTiles<A> tiles_a, SharedTiles<B> tiles_b, int tiles)
        : copy_a_(copy_a), copy_b_(copy_b), tiles_a_(tiles_a), tiles_b_(tiles_b), uncopied_(tiles), unloaded_(tiles) {}

    // On return the first tile is there.
    __device__ void begin() {
        if constexpr (has_async_copies) {
#pragma unroll
            for (int stage = 0; stage < stages - 1; ++stage) start_async_copy();
        }
        if constexpr (has_loads) load();
        next_tile();
    }

    // Starts the asynchronous copy of one more tile, where there is one, into the stage that was multiplied last.
    __device__ void start_copy() {
        if constexpr (has_async_copies) start_async_copy();
    }

    // All threads call this once they have read the last of the tile before. On return the next tile is there, with every thread's part of
    // it.
    __device__ void next_tile() {
        if constexpr (has_async_copies) ptx::cp_async_wait_group<stages - 2>();
        if constexpr (has_loads) {
            // With one stage the tile before stands where the next one goes.
            if constexpr (stages == 1) __syncthreads();
            if constexpr (!CopyA::async_copy) copy_a_.store(tiles_a_[store_stage_], registers_a_);
            if constexpr (!CopyB::async_copy) copy_b_.store(tiles_b_[store_stage_], registers_b_);
            store_stage_ = store_stage_ + 1 == stages ? 0 : store_stage_ + 1;
            // The loads come before the barrier, past which ptxas moves no load: they are under way for as long as this tile is multiplied.
            load();
        }
        __syncthreads();
    }

private:
    static constexpr bool has_async_copies = CopyA::async_copy || CopyB::async_copy;
    static constexpr bool has_loads = !CopyA::async_copy || !CopyB::async_copy;

    __device__ void start_async_copy() {
        if (uncopied_ > 0) {
            --uncopied_;
            if constexpr (CopyA::async_copy) copy_a_.start(tiles_a_[copy_stage_]);
            if constexpr (CopyB::async_copy) copy_b_.start(tiles_b_[copy_stage_]);
            copy_stage_ = copy_stage_ + 1 == stages ? 0 : copy_stage_ + 1;
        }
        // There is a group for each tile, and an empty one past the last, so that the count of groups tells which tile has landed.
        ptx::cp_async_commit_group();
    }

    __device__ void load() {
        if (unloaded_ <= 0) return;
        --unloaded_;
        if constexpr (!CopyA::async_copy) copy_a_.load(registers_a_);
        if constexpr (!CopyB::async_copy) copy_b_.load(registers_b_);
    }

    CopyA copy_a_;
    CopyB copy_b_;
    SharedTiles<A> tiles_a_;
    SharedTiles<B> tiles_b_;
    typename CopyA::Registers registers_a_;
    typename CopyB::Registers registers_b_;
    // Tiles not yet under way: by asynchronous copies, and through registers.
    int uncopied_;
    int unloaded_;
    // The stages that the next of them go to.
    int copy_stage_ = 0;
    int store_stage_ = 0;
};

}  // namespace tmm
