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
// The right tile may have any multiple of 8 columns. Along N its last slab then begins with the remaining ones, behind which stand columns
// of the tile beside it, or zeros beyond the matrix. An instruction of as many columns as the tile has does not read these:
//
//     96 columns:   n ->
//           +-----------------+  +-----------------+
//       k   | 64 columns      |  | 32     | unread |
//       v   | …               |  | …      |        |
//           +-----------------+  +-----------------+
//
// Within each group of 8 rows, 1024 bytes, TMA swaps 16-byte chunks: chunk c of row r stands at c ^ r, so that wgmma's reads down a column
// meet in no bank. The descriptor tells wgmma so: where the tile starts, how far it is to the next group of 8 rows, and, along M or N, to
// the next slab.
#pragma once

#include "tmm/copy/ring.cuh"
#include "tmm/families/wgmma/edge_tiles.cuh"
#include "tmm/families/wgmma/items.cuh"
#include "tmm/families/wgmma/rules.h"
#include "tmm/ptx.cuh"

namespace tmm::wgmma {

template <class Kernel>
class Pipeline {
public:
    // One thread makes the barriers; the caller sees to it that all know of them.
    __device__ Pipeline(unsigned char* tiles, unsigned long long* barriers)
        : tiles_(tiles), full_(barriers), empty_(barriers + Kernel::config.stages), turn_(barriers + 2 * Kernel::config.stages) {}

    __device__ void init() const {
        // A warpgroup that multiplies tiles that several blocks load tells all of these blocks.
        init_ring<Kernel::config.stages>(full_, empty_, readers(Kernel::config) * sharers(Kernel::config));
        if constexpr (Kernel::config.ping_pong) {
            for (int consumer = 0; consumer < consumers(Kernel::config); ++consumer) ptx::mbarrier_init(turn_ + consumer, kWarpgroup / 32);
        }
        ptx::fence_mbarrier_init();
    }

    // One thread of the producer calls this.
    __device__ void produce(const WgmmaArgs& args, const WorkItem& item, unsigned rank) {
        if (is_inner<Kernel>(item))
            bring(args, item, rank, all_of<left>(args.left), all_of<right>(args.right));
        else
            bring(args, item, rank, brought_of_left(args, item), brought_of_right(args, item));
    }
    // One thread calls this for the block's first item, before the copy engine needs the maps.
    __device__ static void prefetch_edges(const WgmmaArgs& args, const WorkItem& item) {
        if (is_inner<Kernel>(item)) return;
        if (brought_of_left(args, item).map == &args.left_edge) ptx::prefetch_tensormap(&args.left_edge);
        if (brought_of_right(args, item).map == &args.right_edge) ptx::prefetch_tensormap(&args.right_edge);
    }

    // Waits until all stages have been read. The producer's thread calls this after the last item.
    __device__ void drain() {
        for (int stage = 0; stage < Kernel::config.stages; ++stage) {
            wait_for_phase(empty_ + place_.stage, place_.parity ^ 1);
            place_.advance();
        }
    }

    // A consumer calls this before its first item, when all blocks of the cluster run. It chooses a thread for each block that is told of
    // stages that are free, so that this takes no loop: ptxas serializes wgmma around branches.
    __device__ void find_told() {
        const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
        tells_ = thread < multicast(Kernel::config);
        if constexpr (multicast(Kernel::config) > 1) {
            if (sharers(Kernel::config) < multicast(Kernel::config) &&
                (sharers_of(Kernel::config, ptx::cluster_ctarank()) >> thread & 1) == 0)
                tells_ = false;
            told_ = ptx::mapa_barriers(empty_, tells_ ? thread : 0);
        }
    }
    // Waits for the tiles of the next stage. A consumer calls this.
    __device__ void wait_full() const { wait_for_phase(full_ + place_.stage, place_.parity); }
    // A consumer calls this when it has read the tiles of the stage before the present one.
    __device__ void release_previous() const {
        if (!tells_) return;
        if constexpr (multicast(Kernel::config) > 1)
            ptx::mbarrier_arrive_cluster(told_, place_.previous);
        else
            ptx::mbarrier_arrive(empty_ + place_.previous);
    }
    __device__ void advance() { place_.advance(); }

    // With ping_pong a consumer reads the tiles of every other item; it skips the tiles of the other items.
    __device__ void skip(int tiles) { place_.skip(tiles); }
    // A barrier tells its last two phases apart: a consumer that waited for the tiles of its next item while the other consumer's tiles
    // still land could take an earlier phase for its own. So a consumer begins when all tiles of the item before have landed, and tells the
    // other so; each of its warps does, for a warp that is late, storing its last results, must not find the turn after its own begun.
    __device__ void wait_turn(int consumer, int own_item) const {
        wait_for_phase(turn_ + consumer, static_cast<unsigned>(consumer == 0 ? own_item + 1 : own_item) & 1);
    }
    __device__ void pass_turn() const {
        if constexpr (Kernel::config.ping_pong) {
            __syncwarp();
            if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(turn_ + (threadIdx.x / kWarpgroup == 1 ? 1 : 0));
        }
    }

    __device__ unsigned left_address() const { return ptx::shared_address(left_tile_of(place_.stage)); }
    __device__ unsigned right_address() const { return ptx::shared_address(right_tile_of(place_.stage)); }

    static constexpr TileLayout left = left_tile(Kernel::config, Kernel::signature);
    static constexpr TileLayout right = right_tile(Kernel::config, Kernel::signature);

    // The row, or column, that a slab of the left, or right, tile is brought from where it is to begin at `outer`.
    __device__ static int left_slab(const GemmArgs& args, int outer) { return place_of_slab<left>(outer, extent_left(args)); }
    __device__ static int right_slab(const GemmArgs& args, int outer) { return place_of_slab<right>(outer, extent_right(args)); }

private:
    static constexpr bool kLeftInHalves = left_in_halves(Kernel::config, Kernel::signature);
    static constexpr bool kRightInHalves = right_in_halves(Kernel::config, Kernel::signature);

    __device__ static i64 extent_left(const GemmArgs& args) { return Kernel::config.swap_ab ? args.n : args.m; }
    __device__ static i64 extent_right(const GemmArgs& args) { return Kernel::config.swap_ab ? args.m : args.n; }
    // A slab that ends with the matrix begins at a multiple of 8 still:
    //
    //     extent = 84:   | slab 0: 0 ... 63 | slab 1: 64 ... 127 |   ----->   0 ... 63 and 24 ... 87
    template <const TileLayout& tile>
    __device__ static int place_of_slab(int outer, i64 extent) {
        if constexpr (slabs_end_with_matrix(Kernel::config, Kernel::signature, tile)) {
            constexpr int chunk = 16 / tile.element_bytes;
            const int last = static_cast<int>((extent + chunk - 1) / chunk * chunk) - row_elements(tile);
            if (last >= 0 && outer > last) return last;
        }
        return outer;
    }
    __device__ unsigned char* left_tile_of(int stage) const { return tiles_ + stage * (tile_bytes(left) + tile_bytes(right)); }
    __device__ unsigned char* right_tile_of(int stage) const { return left_tile_of(stage) + tile_bytes(left); }

    __device__ static Brought brought_of_left(const WgmmaArgs& args, const WorkItem& item) {
        return brought_of<Kernel, left, Kernel::config.multicast_a, kLeftInHalves>(args.left, args.left_edge, item.existing_left);
    }
    __device__ static Brought brought_of_right(const WgmmaArgs& args, const WorkItem& item) {
        return brought_of<Kernel, right, Kernel::config.multicast_b, kRightInHalves>(args.right, args.right_edge, item.existing_right);
    }

    __device__ void bring(const WgmmaArgs& args, const WorkItem& item, unsigned rank, Brought of_left, Brought of_right) {
        const int bytes = of_left.bytes + of_right.bytes;
        for (int tile = 0; tile < item.tiles; ++tile) {
            // A fresh barrier counts as if its phase before had ended.
            wait_for_phase(empty_ + place_.stage, place_.parity ^ 1);
            ptx::mbarrier_arrive_expect_tx(full_ + place_.stage, bytes);
            const int k = item.k_begin + tile * Kernel::config.block_k;
            const int batch_left = args.stride(Kernel::config.swap_ab != 0) != 0 ? item.batch : 0;
            const int batch_right = args.stride(Kernel::config.swap_ab == 0) != 0 ? item.batch : 0;
            load<left, Kernel::config.multicast_a, kLeftInHalves>(left_tile_of(place_.stage), of_left, item.left0, extent_left(args), k,
                                                                  batch_left * left.planes, place_along_right(Kernel::config, rank),
                                                                  sharers_of_left(Kernel::config, rank));
            load<right, Kernel::config.multicast_b, kRightInHalves>(right_tile_of(place_.stage), of_right, item.right0, extent_right(args),
                                                                    k, batch_right * right.planes, place_along_left(Kernel::config, rank),
                                                                    sharers_of_right(Kernel::config, rank));
            place_.advance();
        }
    }

    // The row, or column, of the operand that stands so far from the first of a tile that is brought from `outer` on, or in a gate's halves
    // (rules.h, applies_gate).
    template <bool in_halves>
    __device__ static int place_in_operand(int outer, int distance, i64 extent) {
        if constexpr (in_halves) {
            constexpr int group = group_of_gate(Kernel::config, Kernel::signature);
            const int half = distance % group >= group / 2 ? static_cast<int>(extent / 2) : 0;
            return half + outer / 2 + distance / group * (group / 2) + distance % (group / 2);
        }
        return outer + distance;
    }

    // Where several blocks need a tile, each of them loads a share of every box's rows for all of them. share: the number of this block's
    // share; blocks: a bit for the rank of each of the blocks.
    template <const TileLayout& tile, int shares, bool in_halves>
    __device__ void load(unsigned char* destination, const Brought& brought, int outer, i64 extent, int k, int matrix, unsigned share,
                         unsigned blocks) const {
        if (!brought.map) return;
        constexpr int rows = tile.along_k ? box_rows_along_k(tile, Kernel::config, Kernel::signature, in_halves, 1) : tile.depth;
        const int first = shares > 1 ? static_cast<int>(share) * (rows / shares) : 0;
#pragma unroll
        for (int slab = 0; slab < tile.planes * slabs(tile); ++slab) {
            if (slab % slabs(tile) >= brought.slabs) continue;
            const int distance = slab % slabs(tile) * row_elements(tile);
#pragma unroll
            for (int row = 0; row < slab_rows(tile); row += rows) {
                const int x =
                    tile.along_k ? k + distance : place_of_slab<tile>(place_in_operand<in_halves>(outer, distance, extent), extent);
                const int y = (tile.along_k ? place_in_operand<in_halves>(outer, row, extent) : k) + first;
                unsigned char* const to = destination + slab * slab_bytes(tile) + (row + first) * kRowBytes;
                if constexpr (shares > 1)
                    ptx::cp_async_bulk_tensor_3d_multicast(to, brought.map, x, y, matrix + slab / slabs(tile), full_ + place_.stage,
                                                           static_cast<unsigned short>(blocks));
                else
                    ptx::cp_async_bulk_tensor_3d(to, brought.map, x, y, matrix + slab / slabs(tile), full_ + place_.stage);
            }
        }
    }

    unsigned char* tiles_;
    unsigned long long* full_;
    unsigned long long* empty_;
    unsigned long long* turn_;
    RingPlace<Kernel::config.stages> place_;
    // Used by consumers: whether this thread tells a block of stages that are free, and that block's barriers.
    bool tells_ = false;
    ptx::ClusterBarriers told_{};
};

// How far an element stands from the tile's first, in units of 16 bytes; outer, or k, is a multiple of what an instruction takes.
template <const TileLayout& tile>
__device__ constexpr int distance_of(int outer, int k, int plane = 0) {
    constexpr int elements = row_elements(tile);
    const int x = tile.along_k ? k : outer;
    const int y = tile.along_k ? outer : k;
    return (plane * plane_bytes(tile) + x / elements * slab_bytes(tile) + y * kRowBytes + x % elements * tile.element_bytes) / 16;
}

// wgmma's description of a tile from `distance` on, where `first` describes its first element (PTX ISA, "Matrix Descriptor Format").
// Addresses and distances count 16 bytes.
template <const TileLayout& tile>
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
