// The simt family: a block computes block_m x block_n of C, a thread thread_m x thread_n of them in registers. Tiles of A
// and B travel from global to shared memory, `stages` of them at once, while the block multiplies those that have landed.
//
//   a tile of A, or of B, in shared memory:         C of a block, in groups of 4 x 4 elements; a thread owns the
//                                                   groups at its place in each quadrant (16 x 16 threads, 8 x 8 each):
//            outer (m or n) ->
//          +--------------------------+                        n ->
//      k   | 0 1 2 3 4 5 …            |                +---------+---------+
//      |   | 0 1 2 3 4 5 …            |             m  | . t . . | . t . . |
//      v   +--------------------------+             |  | . . . . | . . . . |
//                                                   v  +---------+---------+
//   For one k a thread reads its groups of 4           | . t . . | . t . . |
//   neighbouring elements as vectors; the              | . . . . | . . . . |
//   lanes of a warp, 4 x 8 threads, read               +---------+---------+
//   neighbouring or equal vectors.
//
// Where the matrix's rows run along k (A not transposed, B transposed), the copy turns the tile.
#pragma once

#include "tmm/args.h"
#include "tmm/epilogue.cuh"
#include "tmm/ptx.cuh"
#include "tmm/shared_memory.cuh"
#include "tmm/simt.h"
#include "tmm/vector.cuh"

namespace tmm::simt {

// Where a thread stands among the threads_m x threads_n of its block.
struct ThreadPlace {
    int m;
    int n;
};

template <KernelConfig config>
__device__ inline ThreadPlace thread_place() {
    constexpr int warp_n = threads_n(config) < 8 ? threads_n(config) : 8;
    constexpr int warp_m = 32 / warp_n;
    constexpr int warps_n = threads_n(config) / warp_n;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    return ThreadPlace{warp / warps_n * warp_m + lane / warp_n, warp % warps_n * warp_n + lane % warp_n};
}

// Neighbouring rows or columns of C that a thread owns.
constexpr int group_of(int per_thread) {
    return per_thread < 4 ? per_thread : 4;
}

// The place within the tile of the first element of a thread's i-th group.
template <int per_thread, int threads_across>
__device__ constexpr int group_start(int thread, int i) {
    return (i * threads_across + thread) * group_of(per_thread);
}

// The way of one operand's tiles from global to shared memory, one tile after the other along K. Each thread moves the same
// `copies` vectors of every tile.
template <TileLayout layout, KernelConfig config>
class TileCopy {
public:
    static constexpr int vector = layout.vector;
    static constexpr int vectors_per_row = matrix_columns(layout) / vector;
    static constexpr int rows_per_pass = threads(config) / vectors_per_row;
    static constexpr int copies = matrix_rows(layout) / rows_per_pass;
    using Registers = Vector<float, vector>[copies];

    // outer0: the tile's first row or column of C; outer_end: where the matrix ends.
    __device__ TileCopy(const float* matrix, i64 ld, i64 outer0, i64 outer_end, i64 k_begin, i64 k_end)
        : ld_(ld),
          row_(static_cast<int>(threadIdx.x) / vectors_per_row),
          column_(static_cast<int>(threadIdx.x) % vectors_per_row * vector),
          outer_left_(outer_end - outer0 < 1 << 30 ? static_cast<int>(outer_end - outer0) : 1 << 30),
          k_left_(static_cast<int>(k_end - k_begin)),
          next_(layout.turned ? matrix + (outer0 + row_) * ld + k_begin + column_ : matrix + (k_begin + row_) * ld + outer0 + column_) {}

    // Starts the background copy of the next tile.
    __device__ void start(float* tile) {
        with_guards([&]<bool guard_outer, bool guard_k> { start_vectors<guard_outer, guard_k>(tile); });
        advance();
    }

    // The same through registers, in two halves.
    __device__ void load(Registers& registers) {
        with_guards([&]<bool guard_outer, bool guard_k> { load_vectors<guard_outer, guard_k>(registers); });
        advance();
    }
    __device__ void store(float* tile, const Registers& registers) const {
#pragma unroll
        for (int i = 0; i < copies; ++i) {
            if constexpr (layout.turned) {
#pragma unroll
                for (int j = 0; j < vector; ++j) *destination(tile, i, j) = registers[i].element[j];
            } else {
                store_vector(destination(tile, i, 0), registers[i]);
            }
        }
    }

private:
    // Calls copy with what must be checked of the next tile: nothing, M or N alone, or K too, which only the last tile needs.
    template <class Copy>
    __device__ void with_guards(Copy&& copy) const {
        if constexpr (config.boundary == boundary::exact) {
            copy.template operator()<false, false>();
        } else if constexpr (config.boundary == boundary::guarded) {
            copy.template operator()<true, true>();
        } else {
            if (k_left_ < config.block_k)
                copy.template operator()<true, true>();
            else if (outer_left_ < layout.outer)
                copy.template operator()<true, false>();
            else
                copy.template operator()<false, false>();
        }
    }

    __device__ void advance() {
        next_ += layout.turned ? config.block_k : config.block_k * ld_;
        k_left_ -= config.block_k;
    }

    template <bool guard_outer, bool guard_k>
    __device__ void start_vectors(float* tile) const {
#pragma unroll
        for (int i = 0; i < copies; ++i) {
            const int valid = valid_elements<guard_outer, guard_k>(i);
            // Where nothing is valid the address is not followed, but it must still be one.
            const float* source = valid > 0 ? next_ + i * rows_per_pass * ld_ : next_;
            if constexpr (vector == 4)
                ptx::cp_async_16(destination(tile, i, 0), source, valid * 4);
            else if constexpr (vector == 2)
                ptx::cp_async_8(destination(tile, i, 0), source, valid * 4);
            else
                ptx::cp_async_4(destination(tile, i, 0), source, valid * 4);
        }
    }

    template <bool guard_outer, bool guard_k>
    __device__ void load_vectors(Registers& registers) const {
#pragma unroll
        for (int i = 0; i < copies; ++i) {
            const int valid = valid_elements<guard_outer, guard_k>(i);
            const float* source = next_ + i * rows_per_pass * ld_;
            if (valid == vector) {
                registers[i] = load_vector<vector>(source);
            } else {
#pragma unroll
                for (int j = 0; j < vector; ++j) registers[i].element[j] = j < valid ? source[j] : 0.0f;
            }
        }
    }

    // Where element j of the i-th vector goes.
    __device__ float* destination(float* tile, int i, int j) const {
        const int row = row_ + i * rows_per_pass;
        const int column = column_ + j;
        return tile + (layout.turned ? column * layout.line_distance + row : row * layout.line_distance + column);
    }

    // How many of the i-th vector's elements exist: none where its row does not.
    template <bool guard_outer, bool guard_k>
    __device__ int valid_elements(int i) const {
        constexpr bool guard_rows = layout.turned ? guard_outer : guard_k;
        constexpr bool guard_columns = layout.turned ? guard_k : guard_outer;
        const int rows_left = (layout.turned ? outer_left_ : k_left_) - (row_ + i * rows_per_pass);
        const int columns_left = (layout.turned ? k_left_ : outer_left_) - column_;
        if ((guard_rows && rows_left <= 0) || (guard_columns && columns_left <= 0)) return 0;
        return guard_columns && columns_left < vector ? columns_left : vector;
    }

    i64 ld_;
    int row_;
    int column_;
    int outer_left_;
    int k_left_;
    // The thread's first element of the next tile.
    const float* next_;
};

// A thread's rows of A, or columns of B, for one k.
template <int per_thread, int threads_across>
__device__ inline void read_fragment(float (&values)[per_thread], const float* line, int thread) {
    constexpr int group = group_of(per_thread);
#pragma unroll
    for (int i = 0; i < per_thread / group; ++i) {
        const Vector<float, group> read = load_vector<group>(line + group_start<per_thread, threads_across>(thread, i));
#pragma unroll
        for (int j = 0; j < group; ++j) values[i * group + j] = read.element[j];
    }
}

// sums += tile of A * tile of B, k in ascending order.
template <KernelSignature signature, KernelConfig config>
__device__ inline void multiply(const float* tile_a, const float* tile_b, ThreadPlace place,
                                float (&sums)[config.thread_m][config.thread_n]) {
#pragma unroll
    for (int k = 0; k < config.block_k; ++k) {
        float a[config.thread_m];
        float b[config.thread_n];
        read_fragment<config.thread_m, threads_m(config)>(a, tile_a + k * layout_a(config, signature).line_distance, place.m);
        read_fragment<config.thread_n, threads_n(config)>(b, tile_b + k * layout_b(config, signature).line_distance, place.n);
#pragma unroll
        for (int i = 0; i < config.thread_m; ++i) {
#pragma unroll
            for (int j = 0; j < config.thread_n; ++j) sums[i][j] = fmaf(a[i], b[j], sums[i][j]);
        }
    }
}

// Which tile of C, which part of K and which member of the batch a block works on.
struct Assignment {
    i64 tile_m;
    i64 tile_n;
    int split;
    i64 batch;
};

template <KernelConfig config>
__device__ inline Assignment assignment(const GemmArgs& args) {
    const unsigned tiles_m = static_cast<unsigned>((args.m + config.block_m - 1) / config.block_m);
    const unsigned tiles_n = static_cast<unsigned>((args.n + config.block_n - 1) / config.block_n);
    const unsigned tiles = tiles_m * tiles_n;
    const unsigned tile = blockIdx.x % tiles;
    const unsigned rest = blockIdx.x / tiles;
    Assignment result;
    result.split = static_cast<int>(rest % static_cast<unsigned>(args.split_k));
    result.batch = rest / static_cast<unsigned>(args.split_k);
    if (args.raster == 0) {
        result.tile_m = tile / tiles_n;
        result.tile_n = tile % tiles_n;
    } else {
        // Bands of `raster` tile rows, walked column by column, so that blocks that run together share rows and columns in L2.
        const unsigned raster = static_cast<unsigned>(args.raster);
        const unsigned band = tile / (raster * tiles_n);
        const unsigned in_band = tile % (raster * tiles_n);
        const unsigned rows = tiles_m - band * raster < raster ? tiles_m - band * raster : raster;
        result.tile_m = band * raster + in_band % rows;
        result.tile_n = in_band / rows;
    }
    return result;
}

// Sums go to C through the epilogue, or as they are to the workspace where another kernel adds up the parts of K.
template <KernelSignature signature, KernelConfig config>
__device__ inline void store_tile(const GemmArgs& args, const Assignment& block, ThreadPlace place,
                                  const float (&sums)[config.thread_m][config.thread_n]) {
    constexpr bool partial = config.split_k > 1;
    constexpr KernelSignature target = partial ? partial_result_of(signature) : signature;
    constexpr int group_m = group_of(config.thread_m);
    constexpr int group_n = group_of(config.thread_n);

    const i64 ld = partial ? workspace_ld(args.n) : args.ldc;
    float* c = partial ? static_cast<float*>(args.workspace) + (block.batch * args.split_k + block.split) * args.m * ld
                       : static_cast<float*>(args.c) + block.batch * args.stride_c;
    const float alpha = partial ? 1.0f : static_cast<float>(args.alpha);
    const float beta = partial ? 0.0f : static_cast<float>(args.beta);
    const i64 row0 = block.tile_m * config.block_m;
    const i64 column0 = block.tile_n * config.block_n;
    const auto store = [&]<bool guarded>() {
#pragma unroll
        for (int i = 0; i < config.thread_m; ++i) {
            const i64 row = row0 + group_start<config.thread_m, threads_m(config)>(place.m, i / group_m) + i % group_m;
            if (guarded && row >= args.m) continue;
#pragma unroll
            for (int j = 0; j < config.thread_n; j += group_n) {
                const i64 column = column0 + group_start<config.thread_n, threads_n(config)>(place.n, j / group_n);
                const i64 left = args.n - column;
                const int valid = !guarded || left >= group_n ? group_n : static_cast<int>(left);
                store_results<target, group_n>(c + row * ld + column, &sums[i][j], alpha, beta, valid);
            }
        }
    };
    const bool inside = row0 + config.block_m <= args.m && column0 + config.block_n <= args.n;
    if constexpr (config.boundary == boundary::exact) {
        store.template operator()<false>();
    } else if constexpr (config.boundary == boundary::guarded) {
        store.template operator()<true>();
    } else {
        if (inside)
            store.template operator()<false>();
        else
            store.template operator()<true>();
    }
}

template <KernelSignature signature, KernelConfig config>
__device__ void kernel(const GemmArgs& args) {
    static_assert(first_violation(config, signature) == nullptr);
    constexpr TileLayout shape_a = layout_a(config, signature);
    constexpr TileLayout shape_b = layout_b(config, signature);
    constexpr int stages = config.stages;
    SharedMemory shared;
    const SharedTiles<float> tiles_a = shared.take<float, tile_elements(shape_a), stages>();
    const SharedTiles<float> tiles_b = shared.take<float, tile_elements(shape_b), stages>();

    const Assignment block = assignment<config>(args);
    const ThreadPlace place = thread_place<config>();
    const i64 row0 = block.tile_m * config.block_m;
    const i64 column0 = block.tile_n * config.block_n;
    const i64 k_begin = block.split * args.k_per_split;
    const i64 k_end = k_begin + args.k_per_split < args.k ? k_begin + args.k_per_split : args.k;
    const int tiles = k_end > k_begin ? static_cast<int>((k_end - k_begin + config.block_k - 1) / config.block_k) : 0;

    TileCopy<shape_a, config> copy_a(static_cast<const float*>(args.a) + block.batch * args.stride_a, args.lda, row0, args.m, k_begin,
                                     k_end);
    TileCopy<shape_b, config> copy_b(static_cast<const float*>(args.b) + block.batch * args.stride_b, args.ldb, column0, args.n, k_begin,
                                     k_end);
    float sums[config.thread_m][config.thread_n] = {};
    if constexpr (config.async_copy) {
        const auto start = [&](int tile, int stage) {
            if (tile < tiles) {
                copy_a.start(tiles_a[stage]);
                copy_b.start(tiles_b[stage]);
            }
            // A group a tile, empty past the last, so that the count of groups tells which tile has landed.
            ptx::cp_async_commit_group();
        };
#pragma unroll
        for (int tile = 0; tile < stages - 1; ++tile) start(tile, tile);
        int landed = 0;
        int free = stages - 1;
        for (int tile = 0; tile < tiles; ++tile) {
            ptx::cp_async_wait_group<stages - 2>();
            // Everyone's part of this tile has landed, and everyone is done with the tile that the next copy overwrites.
            __syncthreads();
            start(tile + stages - 1, free);
            multiply<signature, config>(tiles_a[landed], tiles_b[landed], place, sums);
            free = landed;
            landed = landed + 1 == stages ? 0 : landed + 1;
        }
    } else {
        typename TileCopy<shape_a, config>::Registers registers_a;
        typename TileCopy<shape_b, config>::Registers registers_b;
        if (tiles > 0) {
            copy_a.load(registers_a);
            copy_b.load(registers_b);
        }
        for (int tile = 0; tile < tiles; ++tile) {
            const int stage = tile % stages;
            copy_a.store(tiles_a[stage], registers_a);
            copy_b.store(tiles_b[stage], registers_b);
            // The tile is complete before anyone multiplies with it.
            __syncthreads();
            if (tile + 1 < tiles) {
                copy_a.load(registers_a);
                copy_b.load(registers_b);
            }
            multiply<signature, config>(tiles_a[stage], tiles_b[stage], place, sums);
            // With one stage everyone must be done with it before it is overwritten; with two, the next barrier sees to that.
            if constexpr (stages == 1) __syncthreads();
        }
    }

    store_tile<signature, config>(args, block, place, sums);
}

}  // namespace tmm::simt
