// The wgmma family: tensor cores fed by the copy engine (TMA). A block is one warpgroup that brings tiles of A and B to shared
// memory and one to three that multiply them; the two sides meet at barriers only.
//
//   ring of `stages`:    | left right | left right | left right | …       full[s]:  the tiles of stage s have landed
//        producer  ----> brings s      brings s+1                         empty[s]: all consumers have read stage s
//        consumers ---->                              multiply s
//
// A tile lies in shared memory as the matrix does: in rows of 128 bytes, 64 elements. A slab is as wide as a row; wider tiles are
// several slabs, one behind the other. Rows run along K, or along M (of the left operand) or N (of the right one); wgmma takes both.
//
//     rows along K:   k ->                            rows along M:   m ->
//           +-----------------+  +-----------------+        +-----------------+  +-----------------+
//       m   | 64 elements     |  | the next 64 k   |    k   | 64 elements     |  | the next 64 m   |
//       v   | …               |  | …               |    v   | …               |  | …               |
//           +-----------------+  +-----------------+        +-----------------+  +-----------------+
//
// Within each group of 8 rows, 1024 bytes, TMA swaps 16-byte chunks, chunk c of row r stands at c ^ r, so that wgmma's reads down a
// column meet in no bank. The descriptor tells wgmma so: where the tile starts, how far it is to the next group of 8 rows, and, along
// M or N, to the next slab.
//
// C of a warpgroup: of every 64 x n instruction lane t of warp w holds, for each 8 columns, these four sums:
//
//     row 16 w + t / 4:      columns 2 (t % 4), 2 (t % 4) + 1
//     row 16 w + t / 4 + 8:  the same columns
#pragma once

#include "tmm/epilogue.cuh"
#include "tmm/ptx.cuh"
#include "tmm/shared_memory.cuh"
#include "tmm/vector.cuh"
#include "tmm/wgmma.h"

namespace tmm::wgmma {

// What a block works on: a tile of C, a part of K, a member of the batch.
struct WorkItem {
    // The tile's first row of the left operand, and column of the right one.
    i64 left0;
    i64 right0;
    int batch;
    int split;
    // The part of K, and how many tiles of block_k it makes.
    i64 k_begin;
    int tiles;
};

// index: of the cluster; rank: the block's place in it.
template <KernelConfig config>
__device__ inline WorkItem work_item(const GemmArgs& args, unsigned index, unsigned rank) {
    const unsigned tiles_left = static_cast<unsigned>(clusters_left(config, args.m, args.n));
    const unsigned tiles_right = static_cast<unsigned>(clusters_right(config, args.m, args.n));
    const unsigned tile = index % (tiles_left * tiles_right);
    const unsigned rest = index / (tiles_left * tiles_right);
    const unsigned clusters_k = static_cast<unsigned>(args.split_k) / config.cluster;
    unsigned tile_left = tile / tiles_right;
    unsigned tile_right = tile % tiles_right;
    if (args.raster != 0) {
        // Bands of `raster` tile rows, walked column by column, so that blocks that run together share rows and columns in L2.
        const unsigned raster = static_cast<unsigned>(args.raster);
        const unsigned band = tile / (raster * tiles_right);
        const unsigned in_band = tile % (raster * tiles_right);
        const unsigned rows = tiles_left - band * raster < raster ? tiles_left - band * raster : raster;
        tile_left = band * raster + in_band % rows;
        tile_right = in_band / rows;
    }
    // Of a cluster, one of the three is more than 1.
    tile_left = tile_left * config.multicast_b + rank % config.multicast_b;
    tile_right = tile_right * config.multicast_a + rank % config.multicast_a;
    WorkItem item;
    item.left0 = static_cast<i64>(tile_left) * config.block_m;
    item.right0 = static_cast<i64>(tile_right) * config.block_n;
    item.batch = static_cast<int>(rest / clusters_k);
    item.split = static_cast<int>(rest % clusters_k * config.cluster + rank % config.cluster);
    item.k_begin = item.split * args.k_per_split;
    const i64 k_end = item.k_begin + args.k_per_split < args.k ? item.k_begin + args.k_per_split : args.k;
    item.tiles = k_end > item.k_begin ? static_cast<int>((k_end - item.k_begin + config.block_k - 1) / config.block_k) : 0;
    return item;
}

// Calls visit with each item of this block, in the grid's order.
template <KernelConfig config, class Visit>
__device__ inline void for_each_item(const GemmArgs& args, Visit&& visit) {
    constexpr unsigned cluster = cluster_size(config);
    const unsigned rank = cluster > 1 ? ptx::cluster_ctarank() : 0;
    const unsigned items = static_cast<unsigned>(work_items(config, args.m, args.n, args.batch, args.split_k));
    for (unsigned index = blockIdx.x / cluster; index < items; index += gridDim.x / cluster) visit(work_item<config>(args, index, rank));
}

// Where a side of the ring stands. The parity of a barrier's phase turns each time the ring comes round.
template <int stages>
struct RingPlace {
    int stage = 0;
    unsigned parity = 0;

    __device__ void advance() {
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
};

template <KernelSignature signature, KernelConfig config>
class Pipeline {
public:
    // One thread makes the barriers; the caller sees to it that all know of them.
    __device__ Pipeline(unsigned char* tiles, unsigned long long* barriers)
        : tiles_(tiles), full_(barriers), empty_(barriers + config.stages) {}

    __device__ void init() const {
        for (int stage = 0; stage < config.stages; ++stage) {
            ptx::mbarrier_init(full_ + stage, 1);
            // Who multiplies a tile that several blocks load tells all of them.
            ptx::mbarrier_init(empty_ + stage, consumers(config) * multicast(config));
        }
        ptx::fence_mbarrier_init();
    }

    // By one thread of the producer. maps: of the kernel's left and right operand.
    __device__ void produce(const WgmmaArgs& args, const WorkItem& item, unsigned rank) {
        for (int tile = 0; tile < item.tiles; ++tile) {
            // A fresh barrier counts as if its phase before had ended.
            wait(empty_ + place_.stage, place_.parity ^ 1);
            ptx::mbarrier_arrive_expect_tx(full_ + place_.stage, tile_bytes(left) + tile_bytes(right));
            const int k = static_cast<int>(item.k_begin) + tile * config.block_k;
            const int batch_left = args.stride(config.swap_ab != 0) != 0 ? item.batch : 0;
            const int batch_right = args.stride(config.swap_ab == 0) != 0 ? item.batch : 0;
            load<left, config.multicast_a>(left_tile_of(place_.stage), &args.left, static_cast<int>(item.left0), k, batch_left, rank);
            load<right, config.multicast_b>(right_tile_of(place_.stage), &args.right, static_cast<int>(item.right0), k, batch_right, rank);
            place_.advance();
        }
    }

    // By a consumer: waits for the tiles of the next stage.
    __device__ void wait_full() const { wait(full_ + place_.stage, place_.parity); }
    // By a consumer, when it has read the tiles of the stage before the present one.
    __device__ void release_previous() const {
        if (threadIdx.x % kWarpgroup != 0) return;
        const int stage = place_.stage == 0 ? config.stages - 1 : place_.stage - 1;
        if constexpr (multicast(config) > 1) {
#pragma unroll
            for (int block = 0; block < multicast(config); ++block) ptx::mbarrier_arrive_cluster(empty_ + stage, block);
        } else {
            ptx::mbarrier_arrive(empty_ + stage);
        }
    }
    __device__ void advance() {
        place_.advance();
    }

    __device__ unsigned left_address() const {
        return ptx::shared_address(left_tile_of(place_.stage));
    }
    __device__ unsigned right_address() const {
        return ptx::shared_address(right_tile_of(place_.stage));
    }

    static constexpr TileLayout left = left_tile(config, signature);
    static constexpr TileLayout right = right_tile(config, signature);

private:
    __device__ unsigned char* left_tile_of(int stage) const {
        return tiles_ + stage * (tile_bytes(left) + tile_bytes(right));
    }
    __device__ unsigned char* right_tile_of(int stage) const {
        return left_tile_of(stage) + tile_bytes(left);
    }

    __device__ static void wait(unsigned long long* barrier, unsigned parity) {
        while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
        }
    }

    // Of a tile that several blocks need, each loads a share of every slab's rows, for all of them.
    template <TileLayout tile, int sharers>
    __device__ void load(unsigned char* destination, const TensorMap* map, int outer, int k, int batch, unsigned rank) const {
        constexpr int rows = slab_rows(tile) / sharers;
        const int first_row = sharers > 1 ? static_cast<int>(rank) * rows : 0;
#pragma unroll
        for (int slab = 0; slab < slabs(tile); ++slab) {
            const int x = (tile.along_k ? k : outer) + slab * row_elements(tile);
            const int y = (tile.along_k ? outer : k) + first_row;
            unsigned char* const place = destination + slab * slab_bytes(tile) + first_row * kRowBytes;
            if constexpr (sharers > 1)
                ptx::cp_async_bulk_tensor_3d_multicast(place, map, x, y, batch, full_ + place_.stage, (1 << sharers) - 1);
            else
                ptx::cp_async_bulk_tensor_3d(place, map, x, y, batch, full_ + place_.stage);
        }
    }

    unsigned char* tiles_;
    unsigned long long* full_;
    unsigned long long* empty_;
    RingPlace<config.stages> place_;
};

// wgmma's description of a tile from its row or column `outer` and its k on, both multiples of what an instruction takes. Addresses
// and distances count 16 bytes (PTX ISA, "Matrix Descriptor Format").
template <TileLayout tile>
__device__ inline unsigned long long descriptor(unsigned address, int outer, int k) {
    constexpr int elements = row_elements(tile);
    const int x = tile.along_k ? k : outer;
    const int y = tile.along_k ? outer : k;
    const unsigned start =
        address + static_cast<unsigned>(x / elements * slab_bytes(tile) + y * kRowBytes + x % elements * tile.element_bytes);
    constexpr unsigned long long group_of_rows = 8 * kRowBytes / 16;
    constexpr unsigned long long slab = tile.along_k ? 1 : slab_bytes(tile) / 16;
    constexpr unsigned long long swizzle_128_bytes = 1;
    return (start & 0x3ffffu) >> 4 | slab << 16 | group_of_rows << 32 | swizzle_128_bytes << 62;
}

// The sums of a warpgroup, 64 rows at a time.
template <KernelConfig config>
struct Sums {
    float of[group_m(config) / kRows][group_n(config) / 2];
};

// Multiplies all tiles of an item. The instructions of a tile run while the next is waited for; a stage is free when those that
// read it have ended.
template <KernelSignature signature, KernelConfig config>
__device__ inline void multiply(Pipeline<signature, config>& pipeline, const WorkItem& item, int group_row, int group_column,
                                Sums<config>& sums) {
    using P = Pipeline<signature, config>;
    for (int tile = 0; tile < item.tiles; ++tile) {
        pipeline.wait_full();
        const unsigned left = pipeline.left_address();
        const unsigned right = pipeline.right_address();
        ptx::wgmma_fence();
#pragma unroll
        for (int k = 0; k < config.block_k; k += k_step(signature)) {
#pragma unroll
            for (int i = 0; i < group_m(config) / kRows; ++i)
                ptx::wgmma_mma_async<signature.type_a, group_n(config), !P::left.along_k, !P::right.along_k>(
                    sums.of[i], descriptor<P::left>(left, group_row + i * kRows, k), descriptor<P::right>(right, group_column, k));
        }
        ptx::wgmma_commit_group();
        ptx::wgmma_wait_group<1>();
        if (tile > 0) pipeline.release_previous();
        pipeline.advance();
    }
    ptx::wgmma_wait_group<0>();
    if (item.tiles > 0) pipeline.release_previous();
}

// Sums go to C through the epilogue, or as they are to the workspace where another kernel adds up the parts of K.
template <KernelConfig config>
constexpr bool is_partial = config.split_k > config.cluster;

// The block's tile of C, as far as it exists.
template <KernelSignature signature, KernelConfig config>
struct Destination {
    static constexpr KernelSignature target = is_partial<config> ? partial_result_of(signature) : signature;
    using C = Element<target.type_c>;

    C* first;
    i64 ld;
    int rows;
    int columns;
    float alpha;
    float beta;

    __device__ Destination(const GemmArgs& args, const WorkItem& item)
        : ld(is_partial<config> ? workspace_ld(args.n) : args.ldc),
          alpha(is_partial<config> ? 1.0f : static_cast<float>(args.alpha)),
          beta(is_partial<config> ? 0.0f : static_cast<float>(args.beta)) {
        const i64 row0 = config.swap_ab ? item.right0 : item.left0;
        const i64 column0 = config.swap_ab ? item.left0 : item.right0;
        const i64 part = (static_cast<i64>(item.batch) * args.split_k + item.split) / config.cluster;
        C* const matrix = is_partial<config> ? static_cast<C*>(args.workspace) + part * args.m * ld
                                             : static_cast<C*>(args.c) + item.batch * args.stride_c;
        first = matrix + row0 * ld + column0;
        rows = static_cast<int>(args.m - row0 < 256 ? args.m - row0 : 256);
        columns = static_cast<int>(args.n - column0 < 256 ? args.n - column0 : 256);
    }

    // Do these rows and columns of the tile exist?
    __device__ bool has(int row_end, int column_end) const { return row_end <= rows && column_end <= columns; }
    __device__ C* at(int row, int column) const { return first + row * ld + column; }
};

// Calls visit with the row and column, within 64 x n, of each of a thread's sums.
template <int n, class Visit>
__device__ inline void for_each_sum(const float (&sums)[n / 2], int first_column, int columns, Visit&& visit) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int column = 0; column < columns; column += 8) {
#pragma unroll
        for (int i = 0; i < 4; ++i) visit(lane / 4 + i / 2 * 8, column + lane % 4 * 2 + i % 2, sums[(first_column + column) / 2 + i]);
    }
}

// What a sum is on its way through shared memory: already C's, or, where C is read as well, in float still.
template <KernelSignature target, bool in_float = target.reads_c>
struct Staged {
    using C = Element<target.type_c>;
    using Type = C;
    __device__ static Type from(float sum, float alpha) { return from_float<C>(alpha * sum); }
    template <int width>
    __device__ static void store(C* c, const Type* staged, float, float) {
        store_vector_global(c, load_vector<width>(staged));
    }
};
template <KernelSignature target>
struct Staged<target, true> {
    using C = Element<target.type_c>;
    using Type = float;
    __device__ static Type from(float sum, float) { return sum; }
    template <int width>
    __device__ static void store(C* c, const Type* staged, float alpha, float beta) {
        store_results<target, width>(c, staged, alpha, beta, width);
    }
};

// Each warp turns its 16 rows of the sums into rows of C in shared memory, `staged_columns` columns after the other, and writes those
// by vectors, at C's edges as far as they exist. With swap_ab the sums' rows are C's columns.
template <KernelSignature signature, KernelConfig config>
__device__ inline void store_tile(const Destination<signature, config>& destination, int group_row, int group_column,
                                  const Sums<config>& sums, unsigned char* staged_bytes) {
    using D = Destination<signature, config>;
    using S = Staged<D::target>;
    using T = typename S::Type;
    constexpr int columns = staged_columns(config, signature);
    constexpr int distance = staged_distance(config, signature) / static_cast<int>(sizeof(T));
    constexpr int row_length = config.swap_ab ? kWarpRows : columns;
    constexpr int rows = config.swap_ab ? columns : kWarpRows;
    constexpr int aligned = D::target.align_c / static_cast<int>(sizeof(typename D::C));
    constexpr int width = aligned < row_length ? aligned : row_length;
    T* const staged = reinterpret_cast<T*>(staged_bytes);
    const int warp = static_cast<int>(threadIdx.x) % kWarpgroup / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < group_m(config) / kRows; ++i) {
        const int left = group_row + i * kRows + warp * kWarpRows;
#pragma unroll
        for (int first_column = 0; first_column < group_n(config); first_column += columns) {
            const int right = group_column + first_column;
            for_each_sum<group_n(config)>(sums.of[i], first_column, columns, [&](int row, int column, float sum) {
                staged[config.swap_ab ? column * distance + row : row * distance + column] = S::from(sum, destination.alpha);
            });
            // The warp's sums are there.
            __syncwarp();
            const int row0 = config.swap_ab ? right : left;
            const int column0 = config.swap_ab ? left : right;
            if (destination.has(row0 + rows, column0 + row_length)) {
                constexpr int elements = rows * row_length;
                constexpr int pass = 32 * width;
#pragma unroll 4
                for (int first = 0; first < elements; first += pass) {
                    const int element = first + lane * width;
                    const int row = element / row_length;
                    const int column = element % row_length;
                    if (elements % pass == 0 || element < elements)
                        S::template store<width>(destination.at(row0 + row, column0 + column), staged + row * distance + column,
                                                 destination.alpha, destination.beta);
                }
            } else {
#pragma unroll 1
                for (int element = lane * width; element < rows * row_length; element += 32 * width) {
                    const int row = element / row_length;
                    const int column = element % row_length;
                    const T* const from = staged + row * distance + column;
                    if (destination.has(row0 + row + 1, column0 + column + width)) {
                        S::template store<width>(destination.at(row0 + row, column0 + column), from, destination.alpha, destination.beta);
                    } else if (width > 1) {
#pragma unroll 1
                        for (int i = 0; i < width && destination.has(row0 + row + 1, column0 + column + i + 1); ++i)
                            S::template store<1>(destination.at(row0 + row, column0 + column + i), from + i, destination.alpha,
                                                 destination.beta);
                    }
                }
            }
            // They have been written before the next overwrite them.
            __syncwarp();
        }
    }
}

// The blocks of a cluster hold parts of one tile's sums. Each adds up its share of the tile, in the order of the ranks, out of all
// the blocks' shared memory, and stores it. `part`: the tile in rows of C, over the tiles that have been multiplied.
template <KernelConfig config>
__device__ inline void show_part(int group_row, int group_column, const Sums<config>& sums, float* part) {
    const int warp = static_cast<int>(threadIdx.x) % kWarpgroup / 32;
#pragma unroll
    for (int i = 0; i < group_m(config) / kRows; ++i) {
        const int left = group_row + i * kRows + warp * kWarpRows;
        for_each_sum<group_n(config)>(sums.of[i], 0, group_n(config), [&](int row, int column, float sum) {
            part[config.swap_ab ? (group_column + column) * config.block_m + left + row
                                : (left + row) * config.block_n + group_column + column] = sum;
        });
    }
}

template <KernelSignature signature, KernelConfig config>
__device__ inline void store_cluster_tile(const Destination<signature, config>& destination, int thread, const float* part) {
    constexpr int width = 4;
    constexpr int row_length = config.swap_ab ? config.block_m : config.block_n;
    constexpr int vectors = config.block_m * config.block_n / width;
    constexpr int threads = consumers(config) * kWarpgroup;
    const int rank = static_cast<int>(ptx::cluster_ctarank());
    for (int vector = rank * threads + thread; vector < vectors; vector += config.cluster * threads) {
        Vector<float, width> parts[config.cluster];
#pragma unroll
        for (int r = 0; r < config.cluster; ++r) parts[r] = load_vector<width>(ptx::mapa(part, r) + vector * width);
#pragma unroll
        for (int r = 1; r < config.cluster; ++r) {
#pragma unroll
            for (int i = 0; i < width; ++i) parts[0].element[i] += parts[r].element[i];
        }
        const int row = vector * width / row_length;
        const int column = vector * width % row_length;
        if (destination.has(row + 1, column + 1)) {
            const int left = destination.columns - column;
            store_results<Destination<signature, config>::target, width>(destination.at(row, column), parts[0].element, destination.alpha,
                                                                         destination.beta, left < width ? left : width);
        }
    }
}

template <KernelSignature signature, KernelConfig config>
__device__ void kernel(const WgmmaArgs& args) {
    static_assert(first_violation(config, signature) == nullptr);
    SharedMemory shared;
    constexpr i64 tiles_bytes =
        pipeline_bytes(config, signature) > part_bytes(config) ? pipeline_bytes(config, signature) : part_bytes(config);
    unsigned char* const tiles = shared.take<unsigned char, static_cast<int>(tiles_bytes)>()[0];
    const SharedTiles<unsigned char> staged =
        shared.take<unsigned char, staged_tile_bytes(config, signature), consumers(config) * kWarpgroup / 32>();
    unsigned long long* const barriers = shared.take<unsigned long long, 2 * config.stages>()[0];

    Pipeline<signature, config> pipeline(tiles, barriers);
    if (threadIdx.x == 0) {
        // Where nothing is multiplied, there are no maps.
        if (args.k > 0) {
            ptx::prefetch_tensormap(&args.left);
            ptx::prefetch_tensormap(&args.right);
        }
        pipeline.init();
    }
    // Everyone knows of the barriers, in all blocks that arrive at them.
    if constexpr (multicast(config) > 1)
        ptx::cluster_sync();
    else
        __syncthreads();

    const int warpgroup = static_cast<int>(threadIdx.x) / kWarpgroup;
    if (warpgroup == 0) {
        if constexpr (trades_registers(config)) ptx::setmaxnreg_dec<kProducerRegisters>();
        if (threadIdx.x < 32 && ptx::elect_sync()) {
            const unsigned rank = multicast(config) > 1 ? ptx::cluster_ctarank() : 0;
            for_each_item<config>(args, [&](const WorkItem& item) { pipeline.produce(args, item, rank); });
        }
        __syncwarp();
        if constexpr (config.cluster > 1) {
            ptx::cluster_sync();
            ptx::cluster_sync();
        }
    } else {
        if constexpr (trades_registers(config)) ptx::setmaxnreg_inc<consumer_registers(config)>();
        const int group_row = (warpgroup - 1) / config.warps_n * group_m(config);
        const int group_column = (warpgroup - 1) % config.warps_n * group_n(config);
        const int thread = static_cast<int>(threadIdx.x) - kWarpgroup;
        for_each_item<config>(args, [&](const WorkItem& item) {
            Sums<config> sums = {};
            multiply<signature, config>(pipeline, item, group_row, group_column, sums);
            const Destination<signature, config> destination(args, item);
            if constexpr (config.cluster > 1) {
                // All of the block's warpgroups have read the tiles that the sums overwrite.
                ptx::bar_sync(1, consumers(config) * kWarpgroup);
                float* const part = reinterpret_cast<float*>(tiles);
                show_part<config>(group_row, group_column, sums, part);
                // Every block's part is there.
                ptx::cluster_sync();
                store_cluster_tile<signature, config>(destination, thread, part);
                // No block ends, and its shared memory with it, before the others have read it.
                ptx::cluster_sync();
            } else {
                store_tile<signature, config>(destination, group_row, group_column, sums, staged[thread / 32]);
            }
        });
    }
    // Other blocks' copies and arrivals reach into this one's shared memory until they are done.
    if constexpr (multicast(config) > 1) ptx::cluster_sync();
}

}  // namespace tmm::wgmma
