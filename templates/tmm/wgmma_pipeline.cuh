// Brings tiles of A and B to shared memory by the copy engine (TMA), for wgmma to read.
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
#pragma once

#include "tmm/ptx.cuh"
#include "tmm/ring.cuh"
#include "tmm/wgmma.h"

namespace tmm::wgmma {

// What a block works on: a tile of C, a part of K, a member of the batch. Coordinates of the copy engine have 31 bits, and so have these.
struct WorkItem {
    // The tile's first row of the left operand, and column of the right one.
    int left0;
    int right0;
    // How many of the tile's rows of the left operand, and columns of the right one, exist.
    int rows_left;
    int columns_right;
    int batch;
    int split;
    // The part of K, and how many tiles of block_k it makes.
    int k_begin;
    int tiles;
};

// How many tiles of block_k part `split` of K makes.
template <KernelConfig config>
__device__ inline int tiles_of_part(const GemmArgs& args, int split) {
    // The last part may begin beyond K, and beyond 31 bits.
    const auto k = static_cast<unsigned>(args.k);
    const auto depth = static_cast<unsigned>(args.k_per_split);
    const unsigned begin = static_cast<unsigned>(split) * depth;
    const unsigned end = begin + depth < k ? begin + depth : k;
    return end > begin ? static_cast<int>((end - begin + config.block_k - 1) / config.block_k) : 0;
}

// So many clusters, or blocks, take a part of K of each tile, most often one.
template <KernelConfig config>
__device__ inline unsigned parts_of_k(const GemmArgs& args) {
    return config.split_k == 1 ? 1 : static_cast<unsigned>(args.split_k) / config.cluster;
}

// index: of the cluster; rank: the block's place in it.
template <KernelConfig config>
__device__ inline WorkItem work_item(const WgmmaArgs& args, unsigned index, unsigned rank) {
    const unsigned rest = quotient(index, args.grid.tiles);
    const unsigned parts = parts_of_k<config>(args);
    const unsigned batch = rest == 0 || config.split_k == 1 ? rest : rest / parts;
    const TileOfGrid place = tile_of(args.grid, index - rest * args.grid.tiles.number);
    // A cluster shares tiles or parts of K, not both.
    const unsigned tile_left = place.row * config.multicast_b + place_along_left(config, rank);
    const unsigned tile_right = place.column * config.multicast_a + place_along_right(config, rank);
    WorkItem item;
    item.left0 = static_cast<int>(tile_left) * config.block_m;
    item.right0 = static_cast<int>(tile_right) * config.block_n;
    const auto existing = [](i64 extent, int begin, int size) {
        const int rest = static_cast<int>(extent) - begin;
        return rest >= size ? size : rest > 0 ? rest : 0;
    };
    item.rows_left = existing(config.swap_ab ? args.n : args.m, item.left0, config.block_m);
    item.columns_right = existing(config.swap_ab ? args.m : args.n, item.right0, config.block_n);
    item.batch = static_cast<int>(batch);
    item.split = config.split_k == 1 ? 0 : static_cast<int>((rest - batch * parts) * config.cluster + rank % config.cluster);
    item.k_begin = static_cast<int>(static_cast<unsigned>(item.split) * static_cast<unsigned>(args.k_per_split));
    item.tiles = tiles_of_part<config>(args, item.split);
    return item;
}

// The items of this block, in the grid's order. The first is found when this is made, before the block has waited for anything.
template <KernelConfig config>
class Items {
public:
    __device__ explicit Items(const WgmmaArgs& args)
        : args_(args),
          rank_(cluster_size(config) > 1 ? ptx::cluster_ctarank() : 0),
          index_(blockIdx.x / cluster_size(config)),
          items_(args.grid.tiles.number * static_cast<unsigned>(args.batch) * parts_of_k<config>(args)),
          first_(work_item<config>(args, index_, rank_)) {}

    // Calls visit with each.
    template <class Visit>
    __device__ void for_each(Visit&& visit) const {
        for_each_in_turn<1>(0, visit, [](int) {});
    }
    // The same where so many take them in turn: visit is called with those of `whose`, and leave_out with how many tiles each other has.
    template <int takers, class Visit, class LeaveOut>
    __device__ void for_each_in_turn(int whose, Visit&& visit, LeaveOut&& leave_out) const {
        const unsigned distance = gridDim.x / cluster_size(config);
        int taker = 0;
        WorkItem item = first_;
        for (unsigned index = index_; index < items_; index += distance) {
            if (taker == whose) {
                if (index != index_) item = work_item<config>(args_, index, rank_);
                visit(item);
            } else {
                // Where K is divided, parts differ.
                leave_out(config.split_k == 1 ? tiles_of_part<config>(args_, 0) : work_item<config>(args_, index, rank_).tiles);
            }
            taker = taker + 1 == takers ? 0 : taker + 1;
        }
    }

    // The block's place in its cluster.
    __device__ unsigned rank() const { return rank_; }
    __device__ const WorkItem& first() const { return first_; }

private:
    const WgmmaArgs& args_;
    unsigned rank_;
    // Of the block's, or its cluster's, first item; and how many all blocks have.
    unsigned index_;
    unsigned items_;
    WorkItem first_;
};

template <KernelSignature signature, KernelConfig config>
class Pipeline {
public:
    // One thread makes the barriers; the caller sees to it that all know of them.
    __device__ Pipeline(unsigned char* tiles, unsigned long long* barriers)
        : tiles_(tiles), full_(barriers), empty_(barriers + config.stages), turn_(barriers + 2 * config.stages) {}

    __device__ void init() const {
        // Who multiplies tiles that several blocks load tells all of them.
        init_ring<config.stages>(full_, empty_, readers(config) * sharers(config));
        if constexpr (config.ping_pong) {
            for (int consumer = 0; consumer < consumers(config); ++consumer) ptx::mbarrier_init(turn_ + consumer, kWarpgroup / 32);
        }
        ptx::fence_mbarrier_init();
    }

    // By one thread of the producer.
    __device__ void produce(const WgmmaArgs& args, const WorkItem& item, unsigned rank) {
        if (is_inner(item))
            bring(args, item, rank, all_of<left>(args.left), all_of<right>(args.right));
        else
            bring(args, item, rank, part_of_left(args, item, rank), part_of_right(args, item, rank));
    }
    // By one thread, for the block's first item, before the copy engine needs them.
    __device__ static void prefetch_edges(const WgmmaArgs& args, const WorkItem& item, unsigned rank) {
        if (is_inner(item)) return;
        if (part_of_left(args, item, rank).map == &args.left_edge) ptx::prefetch_tensormap(&args.left_edge);
        if (part_of_right(args, item, rank).map == &args.right_edge) ptx::prefetch_tensormap(&args.right_edge);
    }

    // By the same thread, after the last item: waits until all stages have been read.
    __device__ void drain() {
        for (int stage = 0; stage < config.stages; ++stage) {
            wait_for_phase(empty_ + place_.stage, place_.parity ^ 1);
            place_.advance();
        }
    }

    // By a consumer, before its first item, when all blocks of the cluster run: a thread for each block that is told of stages that are
    // free, without a loop: ptxas serializes wgmma around branches.
    __device__ void find_told() {
        const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
        tells_ = thread < multicast(config);
        if constexpr (multicast(config) > 1) {
            if (sharers(config) < multicast(config) && (sharers_of(config, ptx::cluster_ctarank()) >> thread & 1) == 0) tells_ = false;
            told_ = ptx::mapa_barriers(empty_, tells_ ? thread : 0);
        }
    }
    // By a consumer: waits for the tiles of the next stage.
    __device__ void wait_full() const { wait_for_phase(full_ + place_.stage, place_.parity); }
    // By a consumer, when it has read the tiles of the stage before the present one.
    __device__ void release_previous() const {
        if (!tells_) return;
        if constexpr (multicast(config) > 1)
            ptx::mbarrier_arrive_cluster(told_, place_.previous);
        else
            ptx::mbarrier_arrive(empty_ + place_.previous);
    }
    __device__ void advance() { place_.advance(); }

    // With ping_pong a consumer reads the tiles of every other item; those of the others it leaves out.
    __device__ void skip(int tiles) { place_.skip(tiles); }
    // A barrier tells its last two phases apart: who waited for the tiles of its next item while the other consumer's still land could
    // take an earlier phase for its own. So a consumer begins when all tiles of the item before have landed, and tells the other so; each
    // of its warps does, for one that is late, storing its last results, must not find the turn after its own begun.
    __device__ void wait_turn(int consumer, int own_item) const {
        wait_for_phase(turn_ + consumer, static_cast<unsigned>(consumer == 0 ? own_item + 1 : own_item) & 1);
    }
    __device__ void pass_turn() const {
        if constexpr (config.ping_pong) {
            __syncwarp();
            if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(turn_ + (threadIdx.x / kWarpgroup == 1 ? 1 : 0));
        }
    }

    __device__ unsigned left_address() const { return ptx::shared_address(left_tile_of(place_.stage)); }
    __device__ unsigned right_address() const { return ptx::shared_address(right_tile_of(place_.stage)); }

    static constexpr TileLayout left = left_tile(config, signature);
    static constexpr TileLayout right = right_tile(config, signature);

    // Where a slab of the left, or right, tile is brought from that is to begin at this row, or column.
    __device__ static int left_slab(const GemmArgs& args, int outer) { return place_of_slab<left>(outer, extent_left(args)); }
    __device__ static int right_slab(const GemmArgs& args, int outer) { return place_of_slab<right>(outer, extent_right(args)); }

private:
    __device__ static i64 extent_left(const GemmArgs& args) { return config.swap_ab ? args.n : args.m; }
    __device__ static i64 extent_right(const GemmArgs& args) { return config.swap_ab ? args.m : args.n; }
    // A slab that ends with the matrix begins at a multiple of 8 still:
    //
    //     extent = 84:   | slab 0: 0 ... 63 | slab 1: 64 ... 127 |   ----->   0 ... 63 and 24 ... 87
    template <TileLayout tile>
    __device__ static int place_of_slab(int outer, i64 extent) {
        if constexpr (slabs_end_with_matrix(config, signature, tile)) {
            constexpr int chunk = 16 / tile.element_bytes;
            const int last = static_cast<int>((extent + chunk - 1) / chunk * chunk) - row_elements(tile);
            if (last >= 0 && outer > last) return last;
        }
        return outer;
    }
    __device__ unsigned char* left_tile_of(int stage) const { return tiles_ + stage * (tile_bytes(left) + tile_bytes(right)); }
    __device__ unsigned char* right_tile_of(int stage) const { return left_tile_of(stage) + tile_bytes(left); }

    // Do all of the tile's rows and columns exist, or is it all the same?
    __device__ static bool is_inner(const WorkItem& item) {
        return config.boundary != boundary::peeled || (item.rows_left == config.block_m && item.columns_right == config.block_n);
    }
    // What is brought of a tile: of each slab the rows that exist, or, where rows run along M or N, the slabs that do; and the map that
    // this block brings its share by, if it has any. What stands in the place of the rest is multiplied all the same, and goes nowhere.
    struct Part {
        int bytes;
        int slabs;
        const TensorMap* map;
    };
    template <TileLayout tile>
    __device__ static Part all_of(const TensorMap& whole) {
        return {tile_bytes(tile), tmm::wgmma::slabs(tile), &whole};
    }
    // existing: rows, or columns, of the tile.
    template <TileLayout tile, int shares>
    __device__ static Part part_of(const TensorMap& whole, const TensorMap& edge, int existing, unsigned share) {
        if constexpr (tile.along_k) {
            const int of_share = existing - first_row<tile, shares>(share);
            const TensorMap* const map = of_share >= slab_rows(tile) / shares ? &whole : &edge;
            return {existing * (tile_bytes(tile) / tile.outer), tmm::wgmma::slabs(tile), of_share > 0 ? map : nullptr};
        } else if constexpr (slabs_end_with_matrix(config, signature, tile)) {
            return all_of<tile>(whole);
        } else {
            const int slabs = (existing + row_elements(tile) - 1) / row_elements(tile);
            return {slabs * slab_bytes(tile) * tile.planes, slabs, &whole};
        }
    }
    __device__ static Part part_of_left(const WgmmaArgs& args, const WorkItem& item, unsigned rank) {
        return part_of<left, config.multicast_a>(args.left, args.left_edge, item.rows_left, place_along_right(config, rank));
    }
    __device__ static Part part_of_right(const WgmmaArgs& args, const WorkItem& item, unsigned rank) {
        return part_of<right, config.multicast_b>(args.right, args.right_edge, item.columns_right, place_along_left(config, rank));
    }
    template <TileLayout tile, int shares>
    __device__ static int first_row(unsigned share) {
        return shares > 1 ? static_cast<int>(share) * (slab_rows(tile) / shares) : 0;
    }

    __device__ void bring(const WgmmaArgs& args, const WorkItem& item, unsigned rank, Part of_left, Part of_right) {
        const int bytes = of_left.bytes + of_right.bytes;
        for (int tile = 0; tile < item.tiles; ++tile) {
            // A fresh barrier counts as if its phase before had ended.
            wait_for_phase(empty_ + place_.stage, place_.parity ^ 1);
            ptx::mbarrier_arrive_expect_tx(full_ + place_.stage, bytes);
            const int k = item.k_begin + tile * config.block_k;
            const int batch_left = args.stride(config.swap_ab != 0) != 0 ? item.batch : 0;
            const int batch_right = args.stride(config.swap_ab == 0) != 0 ? item.batch : 0;
            load<left, config.multicast_a>(left_tile_of(place_.stage), of_left, item.left0, extent_left(args), k, batch_left * left.planes,
                                           place_along_right(config, rank), sharers_of_left(config, rank));
            load<right, config.multicast_b>(right_tile_of(place_.stage), of_right, item.right0, extent_right(args), k,
                                            batch_right * right.planes, place_along_left(config, rank), sharers_of_right(config, rank));
            place_.advance();
        }
    }

    // Of a tile that several blocks need, each loads a share of every slab's rows, for all of them.
    // share: this block's; blocks: a bit for the rank of each.
    template <TileLayout tile, int shares>
    __device__ void load(unsigned char* destination, const Part& part, int outer, i64 extent, int k, int matrix, unsigned share,
                         unsigned blocks) const {
        if (!part.map) return;
        const int first = first_row<tile, shares>(share);
#pragma unroll
        for (int slab = 0; slab < tile.planes * slabs(tile); ++slab) {
            if (slab % slabs(tile) >= part.slabs) continue;
            const int distance = slab % slabs(tile) * row_elements(tile);
            const int x = tile.along_k ? k + distance : place_of_slab<tile>(outer + distance, extent);
            const int y = (tile.along_k ? outer : k) + first;
            unsigned char* const to = destination + slab * slab_bytes(tile) + first * kRowBytes;
            if constexpr (shares > 1)
                ptx::cp_async_bulk_tensor_3d_multicast(to, part.map, x, y, matrix + slab / slabs(tile), full_ + place_.stage,
                                                       static_cast<unsigned short>(blocks));
            else
                ptx::cp_async_bulk_tensor_3d(to, part.map, x, y, matrix + slab / slabs(tile), full_ + place_.stage);
        }
    }

    unsigned char* tiles_;
    unsigned long long* full_;
    unsigned long long* empty_;
    unsigned long long* turn_;
    RingPlace<config.stages> place_;
    // Of a consumer: does this thread tell a block of stages that are free, and which barriers there.
    bool tells_ = false;
    ptx::ClusterBarriers told_{};
};

// How far an element stands from the tile's first, in units of 16 bytes; outer, or k, is a multiple of what an instruction takes.
template <TileLayout tile>
__device__ constexpr int distance_of(int outer, int k, int plane = 0) {
    constexpr int elements = row_elements(tile);
    const int x = tile.along_k ? k : outer;
    const int y = tile.along_k ? outer : k;
    return (plane * plane_bytes(tile) + x / elements * slab_bytes(tile) + y * kRowBytes + x % elements * tile.element_bytes) / 16;
}

// wgmma's description of a tile from `distance` on, where `first` describes its first element (PTX ISA, "Matrix Descriptor Format").
// Addresses and distances count 16 bytes.
template <TileLayout tile>
__device__ inline unsigned first_descriptor(unsigned address) {
    constexpr unsigned slab = tile.along_k ? 1 : slab_bytes(tile) / 16;
    return (address & 0x3ffffu) >> 4 | slab << 16;
}
__device__ inline unsigned long long descriptor(unsigned first, int distance) {
    constexpr unsigned long long group_of_rows = 8 * kRowBytes / 16;
    constexpr unsigned long long swizzle_128_bytes = 1;
    return (first + static_cast<unsigned>(distance)) | group_of_rows << 32 | swizzle_128_bytes << 62;
}

}  // namespace tmm::wgmma
