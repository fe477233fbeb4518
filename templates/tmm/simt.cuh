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
// Where the matrix's rows run along k (A not transposed, B transposed), the copy turns the tile; or, with along_k, the tile's lines
// run along k as well, and a thread reads 4 k of a line at once. Its rows then stand alone, threads_m apart:
//
//          k ->
//        +-------------------+----+         lanes that read lines one after the other meet in no bank: lines are block_k
//   m    | t t t t | . . . . | pad|         elements long, a multiple of 8, and padded by 4
//   |    | . . . . | . . . . | pad|
//   v    +-------------------+----+
//
// The blocks of a cluster take parts of K of one tile and add them up through each other's shared memory.
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
    constexpr int rows = warp_m(config);
    constexpr int columns = warp_n(config);
    constexpr int warps_n = threads_n(config) / columns;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    return ThreadPlace{warp / warps_n * rows + lane / columns, warp % warps_n * columns + lane % columns};
}

// The place within the tile of a thread's i-th row, or column, of C.
template <TileLayout layout, int per_thread, int threads_across>
__device__ constexpr int element_of(int thread, int i) {
    constexpr int group = group_of(layout, per_thread);
    return (i / group * threads_across + thread) * group + i % group;
}

// What a block works on: a tile of C, a part of K, a member of the batch.
struct WorkItem {
    // The tile's first row and column of C.
    i64 row0;
    i64 column0;
    i64 batch;
    int split;
    // The part of K, and how many tiles of block_k it makes.
    i64 k_begin;
    i64 k_end;
    int tiles;
};

template <KernelConfig config>
__device__ inline WorkItem work_item(const GemmArgs& args) {
    const unsigned tiles_m = static_cast<unsigned>((args.m + config.block_m - 1) / config.block_m);
    const unsigned tiles_n = static_cast<unsigned>((args.n + config.block_n - 1) / config.block_n);
    // The blocks of a cluster, which follow each other, take parts of one tile.
    constexpr unsigned cluster = config.cluster;
    const unsigned rank = blockIdx.x % cluster;
    const unsigned tile = blockIdx.x / cluster % (tiles_m * tiles_n);
    const unsigned rest = blockIdx.x / cluster / (tiles_m * tiles_n);
    const unsigned clusters_k = static_cast<unsigned>(args.split_k) / cluster;
    unsigned tile_m = tile / tiles_n;
    unsigned tile_n = tile % tiles_n;
    if (args.raster != 0) {
        // Bands of `raster` tile rows, walked column by column, so that blocks that run together share rows and columns in L2.
        const unsigned raster = static_cast<unsigned>(args.raster);
        const unsigned band = tile / (raster * tiles_n);
        const unsigned in_band = tile % (raster * tiles_n);
        const unsigned rows = tiles_m - band * raster < raster ? tiles_m - band * raster : raster;
        tile_m = band * raster + in_band % rows;
        tile_n = in_band / rows;
    }
    WorkItem item;
    item.row0 = static_cast<i64>(tile_m) * config.block_m;
    item.column0 = static_cast<i64>(tile_n) * config.block_n;
    item.batch = rest / clusters_k;
    item.split = static_cast<int>(rest % clusters_k * cluster + rank);
    item.k_begin = item.split * args.k_per_split;
    item.k_end = item.k_begin + args.k_per_split < args.k ? item.k_begin + args.k_per_split : args.k;
    item.tiles = item.k_end > item.k_begin ? static_cast<int>((item.k_end - item.k_begin + config.block_k - 1) / config.block_k) : 0;
    return item;
}

// The way of one operand's tiles from global to shared memory, one tile after the other along K. Each thread moves the same
// `copies` vectors of every tile. Past the end of K zeros take the matrix's place. Past its last row or column of C anything will
// do, since it is not stored: what there is is copied once more.
template <TileLayout layout, KernelConfig config>
class TileCopy {
public:
    static constexpr int vector = layout.vector;
    static constexpr int vectors_per_row = matrix_columns(layout) / vector;
    static constexpr int rows_per_pass = threads(config) / vectors_per_row;
    static constexpr int copies = matrix_rows(layout) / rows_per_pass;
    static constexpr bool turned = layout.rows_along_k && !layout.lines_along_k;
    static constexpr bool has_edges = config.boundary != boundary::exact;
    using Registers = Vector<float, vector>[copies];

    // outer0: the tile's first row or column of C; outer_end: where the matrix ends.
    __device__ TileCopy(const float* matrix, i64 ld, i64 outer0, i64 outer_end, i64 k_begin, i64 k_end)
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
    __device__ void start(float* tile) {
        with_checks([&]<bool k_ends, bool outer_ends> {
            const float* source = next_;
#pragma unroll
            for (int i = 0; i < copies; ++i) {
                // Where nothing is valid the address is not followed.
                const int valid = valid_elements<k_ends, outer_ends>(i);
                if constexpr (vector == 4)
                    ptx::cp_async_16(destination(tile, i, 0), source, valid * 4);
                else if constexpr (vector == 2)
                    ptx::cp_async_8(destination(tile, i, 0), source, valid * 4);
                else
                    ptx::cp_async_4(destination(tile, i, 0), source, valid * 4);
                source = following(source, i);
            }
        });
        advance();
    }

    // The same through registers, in two halves.
    __device__ void load(Registers& registers) {
        with_checks([&]<bool k_ends, bool outer_ends> {
            const float* source = next_;
#pragma unroll
            for (int i = 0; i < copies; ++i) {
                const int valid = valid_elements<k_ends, outer_ends>(i);
                if (valid == vector) {
                    registers[i] = load_vector<vector>(source);
                } else {
#pragma unroll
                    for (int j = 0; j < vector; ++j) registers[i].element[j] = j < valid ? source[j] : 0.0f;
                }
                source = following(source, i);
            }
        });
        advance();
    }
    __device__ void store(float* tile, const Registers& registers) const {
#pragma unroll
        for (int i = 0; i < copies; ++i) {
            if constexpr (turned) {
#pragma unroll
                for (int j = 0; j < vector; ++j) *destination(tile, i, j) = registers[i].element[j];
            } else {
                store_vector(destination(tile, i, 0), registers[i]);
            }
        }
    }

private:
    // Calls copy with what ends within the next tile: K, which only the last tile sees, or a vector along M or N.
    template <class Copy>
    __device__ void with_checks(Copy&& copy) const {
        if constexpr (!has_edges) {
            copy.template operator()<false, false>();
        } else if constexpr (config.boundary == boundary::guarded) {
            copy.template operator()<true, true>();
        } else {
            if (k_left_ < config.block_k)
                copy.template operator()<true, true>();
            else if (!layout.rows_along_k && outer_left_ % vector != 0)
                copy.template operator()<false, true>();
            else
                copy.template operator()<false, false>();
        }
    }

    __device__ void advance() {
        next_ += layout.rows_along_k ? config.block_k : config.block_k * ld_;
        k_left_ -= config.block_k;
    }

    // Where the vector after the i-th comes from.
    __device__ const float* following(const float* source, int i) const {
        if (has_edges && layout.rows_along_k && row_ + (i + 1) * rows_per_pass >= outer_left_) return source;
        return source + rows_per_pass * ld_;
    }

    // Where element j of the i-th vector goes.
    __device__ float* destination(float* tile, int i, int j) const {
        const int row = row_ + i * rows_per_pass;
        const int column = column_ + j;
        return tile + (turned ? column * layout.line_distance + row : row * layout.line_distance + column);
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
    const float* next_;
};

// The ring of tiles in shared memory, `stages` of A and as many of B: one is multiplied while the others are under way.
template <KernelSignature signature, KernelConfig config>
class TilePipeline {
public:
    __device__ TilePipeline(const GemmArgs& args, const WorkItem& item, SharedTiles<float> tiles_a, SharedTiles<float> tiles_b)
        : copy_a_(static_cast<const float*>(args.a) + item.batch * args.stride_a, args.lda, item.row0, args.m, item.k_begin, item.k_end),
          copy_b_(static_cast<const float*>(args.b) + item.batch * args.stride_b, args.ldb, item.column0, args.n, item.k_begin, item.k_end),
          tiles_a_(tiles_a),
          tiles_b_(tiles_b),
          uncopied_(item.tiles) {}

    // On return the first tile is there.
    __device__ void begin() {
        if constexpr (config.async_copy) {
#pragma unroll
            for (int stage = 0; stage < config.stages - 1; ++stage) start_copy();
        } else {
            start_copy();
        }
        next_tile();
    }

    // Starts the copy of one more tile, where there is one, into the stage that was multiplied last.
    __device__ void start_copy() {
        if (uncopied_ > 0) {
            --uncopied_;
            if constexpr (config.async_copy) {
                copy_a_.start(tiles_a_[stage_]);
                copy_b_.start(tiles_b_[stage_]);
                stage_ = stage_ + 1 == config.stages ? 0 : stage_ + 1;
            } else {
                copy_a_.load(registers_a_);
                copy_b_.load(registers_b_);
            }
        }
        // A group a tile, empty past the last, so that the count of groups tells which tile has landed.
        if constexpr (config.async_copy) ptx::cp_async_commit_group();
    }

    // Once everyone has read the last of the tile before: on return the next tile is there, everyone's part of it.
    __device__ void next_tile() {
        if constexpr (config.async_copy) {
            ptx::cp_async_wait_group<config.stages - 2>();
        } else {
            // With one stage the tile before stands where the next one goes.
            if constexpr (config.stages == 1) __syncthreads();
            copy_a_.store(tiles_a_[stage_], registers_a_);
            copy_b_.store(tiles_b_[stage_], registers_b_);
            stage_ = stage_ + 1 == config.stages ? 0 : stage_ + 1;
        }
        __syncthreads();
    }

private:
    using CopyA = TileCopy<layout_a(config, signature), config>;
    using CopyB = TileCopy<layout_b(config, signature), config>;

    CopyA copy_a_;
    CopyB copy_b_;
    SharedTiles<float> tiles_a_;
    SharedTiles<float> tiles_b_;
    typename CopyA::Registers registers_a_;
    typename CopyB::Registers registers_b_;
    int uncopied_;
    // Where the next copy goes.
    int stage_ = 0;
};

// A thread's rows of A and columns of B, for k_step values of k.
template <KernelSignature signature, KernelConfig config>
struct Fragments {
    float a[k_step(config, signature)][config.thread_m];
    float b[k_step(config, signature)][config.thread_n];
};

// `tile` begins at the thread's first row or column.
template <TileLayout layout, int threads_across, int steps, int per_thread>
__device__ inline void read_fragment(float (&values)[steps][per_thread], const float* tile, int k) {
    constexpr int group = group_of(layout, per_thread);
    if constexpr (layout.lines_along_k) {
#pragma unroll
        for (int i = 0; i < per_thread; ++i) {
            const int line = element_of<layout, per_thread, threads_across>(0, i);
            const Vector<float, steps> read = load_vector<steps>(tile + line * layout.line_distance + k);
#pragma unroll
            for (int step = 0; step < steps; ++step) values[step][i] = read.element[step];
        }
    } else {
#pragma unroll
        for (int step = 0; step < steps; ++step) {
            const float* line = tile + (k + step) * layout.line_distance;
#pragma unroll
            for (int i = 0; i < per_thread; i += group) {
                const Vector<float, group> read = load_vector<group>(line + element_of<layout, per_thread, threads_across>(0, i));
#pragma unroll
                for (int j = 0; j < group; ++j) values[step][i + j] = read.element[j];
            }
        }
    }
}

// Reads fragments from the tiles of A and B, one stage after the other.
template <KernelSignature signature, KernelConfig config>
class FragmentReader {
public:
    __device__ FragmentReader(SharedTiles<float> tiles_a, SharedTiles<float> tiles_b, ThreadPlace place)
        : distance_a_(tiles_a.distance),
          distance_b_(tiles_b.distance),
          a_(tiles_a[0] + element_of<shape_a, config.thread_m, threads_m(config)>(place.m, 0) * distance_of_neighbours(shape_a)),
          b_(tiles_b[0] + element_of<shape_b, config.thread_n, threads_n(config)>(place.n, 0) * distance_of_neighbours(shape_b)) {}

    __device__ void read(Fragments<signature, config>& fragments, int k) const {
        read_fragment<shape_a, threads_m(config)>(fragments.a, a_, k);
        read_fragment<shape_b, threads_n(config)>(fragments.b, b_, k);
    }
    __device__ void next_stage() {
        ++stage_;
        const int step = stage_ == config.stages ? 1 - config.stages : 1;
        if (stage_ == config.stages) stage_ = 0;
        a_ += step * distance_a_;
        b_ += step * distance_b_;
    }

private:
    static constexpr TileLayout shape_a = layout_a(config, signature);
    static constexpr TileLayout shape_b = layout_b(config, signature);
    // From one row or column of C to the next.
    static constexpr int distance_of_neighbours(const TileLayout& l) { return l.lines_along_k ? l.line_distance : 1; }

    int distance_a_;
    int distance_b_;
    const float* a_;
    const float* b_;
    int stage_ = 0;
};

// sums += fragment of A * fragment of B. Of a product's three operands the register file delivers two a cycle; the third must be
// the same as in the product before. So the way goes along the shorter side, there and back: each turn keeps its B (or A), too.
template <int thread_m, int thread_n>
__device__ inline void multiply(const float (&a)[thread_m], const float (&b)[thread_n], float (&sums)[thread_m][thread_n]) {
    constexpr bool rows_outside = thread_m >= thread_n;
    constexpr int outside = rows_outside ? thread_m : thread_n;
    constexpr int inside = rows_outside ? thread_n : thread_m;
#pragma unroll
    for (int o = 0; o < outside; ++o) {
#pragma unroll
        for (int step = 0; step < inside; ++step) {
            const int p = o % 2 == 0 ? step : inside - 1 - step;
            const int i = rows_outside ? o : p;
            const int j = rows_outside ? p : o;
            sums[i][j] = fmaf(a[i], b[j], sums[i][j]);
        }
    }
}

// Sums go to C through the epilogue, or as they are to the workspace where another kernel adds up the parts of K.
template <KernelConfig config>
constexpr bool is_partial = config.split_k > config.cluster;

template <KernelConfig config>
struct Destination {
    float* first;
    i64 ld;
    float alpha;
    float beta;
    // Of the whole matrix.
    i64 rows;
    i64 columns;

    __device__ Destination(const GemmArgs& args, const WorkItem& item)
        : ld(is_partial<config> ? workspace_ld(args.n) : args.ldc),
          alpha(is_partial<config> ? 1.0f : static_cast<float>(args.alpha)),
          beta(is_partial<config> ? 0.0f : static_cast<float>(args.beta)),
          rows(args.m),
          columns(args.n) {
        const i64 part = (item.batch * args.split_k + item.split) / config.cluster;
        first = is_partial<config> ? static_cast<float*>(args.workspace) + part * rows * ld
                                   : static_cast<float*>(args.c) + item.batch * args.stride_c;
    }

    // `width` neighbouring results of a row.
    template <KernelSignature signature, int width, bool guarded>
    __device__ void store(i64 row, i64 column, const float* results) const {
        constexpr KernelSignature target = is_partial<config> ? partial_result_of(signature) : signature;
        if (guarded && row >= rows) return;
        const i64 left = columns - column;
        const int valid = !guarded || left >= width ? width : static_cast<int>(left);
        store_results<target, width>(first + row * ld + column, results, alpha, beta, valid);
    }
};

// Calls store with each of the thread's groups of neighbouring sums: its row and column within the tile, and the sums.
template <KernelSignature signature, KernelConfig config, class Store>
__device__ inline void for_each_group(ThreadPlace place, const float (&sums)[config.thread_m][config.thread_n], Store&& store) {
    constexpr TileLayout shape_a = layout_a(config, signature);
    constexpr TileLayout shape_b = layout_b(config, signature);
#pragma unroll
    for (int i = 0; i < config.thread_m; ++i) {
        const int row = element_of<shape_a, config.thread_m, threads_m(config)>(place.m, i);
#pragma unroll
        for (int j = 0; j < config.thread_n; j += group_of(shape_b, config.thread_n))
            store(row, element_of<shape_b, config.thread_n, threads_n(config)>(place.n, j), &sums[i][j]);
    }
}

template <KernelSignature signature, KernelConfig config, bool guarded>
__device__ inline void store_tile(const Destination<config>& destination, i64 row0, i64 column0, ThreadPlace place,
                                  const float (&sums)[config.thread_m][config.thread_n]) {
    for_each_group<signature, config>(place, sums, [&](int row, int column, const float* group) {
        destination.template store<signature, group_of(layout_b(config, signature), config.thread_n), guarded>(row0 + row, column0 + column,
                                                                                                               group);
    });
}

// The blocks of a cluster hold parts of one tile's sums. Each adds up its share of the tile, in the order of the ranks, out of all
// the blocks' shared memory, and stores it. `part`: block_m rows of block_n elements in shared memory.
template <KernelSignature signature, KernelConfig config, bool guarded>
__device__ inline void store_cluster_tile(const Destination<config>& destination, i64 row0, i64 column0, ThreadPlace place,
                                          const float (&sums)[config.thread_m][config.thread_n], float* part) {
    for_each_group<signature, config>(place, sums, [&](int row, int column, const float* group) {
        constexpr int width = group_of(layout_b(config, signature), config.thread_n);
        Vector<float, width> values;
#pragma unroll
        for (int i = 0; i < width; ++i) values.element[i] = group[i];
        store_vector(part + row * config.block_n + column, values);
    });
    // Every block's part is there.
    ptx::cluster_sync();
    constexpr int vectors_per_row = config.block_n / kSumVector;
    const int rank = static_cast<int>(ptx::cluster_ctarank());
    for (int vector = rank * threads(config) + static_cast<int>(threadIdx.x); vector < config.block_m * vectors_per_row;
         vector += config.cluster * threads(config)) {
        Vector<float, kSumVector> parts[config.cluster];
#pragma unroll
        for (int r = 0; r < config.cluster; ++r) parts[r] = load_vector<kSumVector>(ptx::mapa(part, r) + vector * kSumVector);
#pragma unroll
        for (int r = 1; r < config.cluster; ++r) {
#pragma unroll
            for (int i = 0; i < kSumVector; ++i) parts[0].element[i] += parts[r].element[i];
        }
        const int row = vector / vectors_per_row;
        const int column = vector % vectors_per_row * kSumVector;
        destination.template store<signature, kSumVector, guarded>(row0 + row, column0 + column, parts[0].element);
    }
    // No block ends, and its shared memory with it, before the others have read it.
    ptx::cluster_sync();
}

// `part`: where a cluster's blocks show each other their sums.
template <KernelSignature signature, KernelConfig config>
__device__ inline void store_results_of(const GemmArgs& args, const WorkItem& item, ThreadPlace place,
                                        const float (&sums)[config.thread_m][config.thread_n], float* part) {
    const Destination<config> destination(args, item);
    const auto store = [&]<bool guarded>() {
        if constexpr (config.cluster > 1)
            store_cluster_tile<signature, config, guarded>(destination, item.row0, item.column0, place, sums, part);
        else
            store_tile<signature, config, guarded>(destination, item.row0, item.column0, place, sums);
    };
    const bool inside = item.row0 + config.block_m <= args.m && item.column0 + config.block_n <= args.n;
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
    SharedMemory shared;
    const SharedTiles<float> tiles_a = shared.take<float, tile_elements(layout_a(config, signature)), config.stages>();
    const SharedTiles<float> tiles_b = shared.take<float, tile_elements(layout_b(config, signature)), config.stages>();
    SharedTiles<float> part{};
    if constexpr (config.cluster > 1) part = shared.take<float, config.block_m * config.block_n>();

    const WorkItem item = work_item<config>(args);
    const ThreadPlace place = thread_place<config>();
    TilePipeline<signature, config> pipeline(args, item, tiles_a, tiles_b);
    FragmentReader<signature, config> reader(tiles_a, tiles_b, place);
    // Those that are multiplied, and the next, which are on their way.
    Fragments<signature, config> fragments[2];
    float sums[config.thread_m][config.thread_n] = {};
    pipeline.begin();
    reader.read(fragments[0], 0);
    constexpr int steps = k_step(config, signature);
    for (int tile = 0; tile < item.tiles; ++tile) {
#pragma unroll
        for (int k = 0; k < config.block_k; k += steps) {
            if (k == 0) pipeline.start_copy();
            if (k + steps == config.block_k) {
                pipeline.next_tile();
                reader.next_stage();
            }
            const Fragments<signature, config>& now = fragments[k / steps % 2];
            reader.read(fragments[(k / steps + 1) % 2], (k + steps) % config.block_k);
#pragma unroll
            for (int step = 0; step < steps; ++step) multiply(now.a[step], now.b[step], sums);
        }
    }
    store_results_of<signature, config>(args, item, place, sums, part.first);
}

}  // namespace tmm::simt
