// The items of work of a wgmma kernel's blocks, which take them one after the other.
#pragma once

#include "tmm/families/wgmma/rules.h"
#include "tmm/ptx.cuh"

namespace tmm::wgmma {

// The work of a block: a tile of C, a part of K, a member of the batch. Coordinates of the copy engine have 31 bits, and so have these.
struct WorkItem {
    // The tile's first row of the left operand, and column of the right one.
    int left0;
    int right0;
    // How many of the tile's rows of the left operand, and columns of the right one, exist.
    int existing_left;
    int existing_right;
    int batch;
    int split;
    // The part of K, and how many tiles of block_k it makes.
    int k_begin;
    int tiles;
};

// How many tiles of block_k part `split` of K makes.
template <class Kernel>
__device__ inline int tiles_of_part(const GemmArgs& args, int split) {
    // The last part may begin beyond K, and beyond 31 bits.
    const auto k = static_cast<unsigned>(args.k);
    const auto depth = static_cast<unsigned>(args.k_per_split);
    const unsigned begin = static_cast<unsigned>(split) * depth;
    const unsigned end = begin + depth < k ? begin + depth : k;
    return end > begin ? static_cast<int>((end - begin + Kernel::config.block_k - 1) / Kernel::config.block_k) : 0;
}

// How many clusters, or blocks, take a part of K of each tile, most often 1.
template <class Kernel>
__device__ inline unsigned parts_of_k(const GemmArgs& args) {
    return Kernel::config.split_k == 1 ? 1 : static_cast<unsigned>(args.split_k) / Kernel::config.cluster;
}

// index: the number of the cluster's item; rank: the block's place in the cluster.
template <class Kernel>
__device__ inline WorkItem work_item(const WgmmaArgs& args, unsigned index, unsigned rank) {
    const unsigned rest = quotient(index, args.grid.tiles);
    const unsigned parts = parts_of_k<Kernel>(args);
    const unsigned batch = rest == 0 || Kernel::config.split_k == 1 ? rest : rest / parts;
    const TileOfGrid in_grid = tile_of(args.grid, index - rest * args.grid.tiles.number);
    TilePlace<unsigned> place = {in_grid.row, in_grid.column};
    constexpr Result result = result_of_sides(Kernel::config, Kernel::signature);
    if constexpr (result != Result::full) {
        constexpr TilesOfC in_square = clusters_of_square(Kernel::config);
        const unsigned side = static_cast<unsigned>(in_square.rows) * rows_of_cluster(Kernel::config);
        place = tile_of_triangle(result, place, (static_cast<unsigned>(args.m) + side - 1) / side, static_cast<unsigned>(in_square.rows),
                                 static_cast<unsigned>(in_square.columns));
    }
    // A cluster shares tiles or parts of K, not both.
    const unsigned tile_left = place.m * Kernel::config.multicast_b + place_along_left(Kernel::config, rank);
    const unsigned tile_right = place.n * Kernel::config.multicast_a + place_along_right(Kernel::config, rank);
    WorkItem item;
    item.left0 = static_cast<int>(tile_left) * Kernel::config.block_m;
    item.right0 = static_cast<int>(tile_right) * Kernel::config.block_n;
    const auto existing = [](i64 extent, int begin, int size) {
        const int from_there = static_cast<int>(extent) - begin;
        return from_there >= size ? size : from_there > 0 ? from_there : 0;
    };
    item.existing_left = existing(Kernel::config.swap_ab ? args.n : args.m, item.left0, Kernel::config.block_m);
    item.existing_right = existing(Kernel::config.swap_ab ? args.m : args.n, item.right0, Kernel::config.block_n);
    item.batch = static_cast<int>(batch);
    item.split =
        Kernel::config.split_k == 1 ? 0 : static_cast<int>((rest - batch * parts) * Kernel::config.cluster + rank % Kernel::config.cluster);
    item.k_begin = static_cast<int>(static_cast<unsigned>(item.split) * static_cast<unsigned>(args.k_per_split));
    item.tiles = tiles_of_part<Kernel>(args, item.split);
    return item;
}

// The items of this block, in the grid's order. The first is found when this is made, before the block has waited for anything.
template <class Kernel>
class Items {
public:
    __device__ explicit Items(const WgmmaArgs& args)
        : args_(args),
          rank_(cluster_size(Kernel::config) > 1 ? ptx::cluster_ctarank() : 0),
          index_(blockIdx.x / cluster_size(Kernel::config)),
          items_(args.grid.tiles.number * static_cast<unsigned>(args.batch) * parts_of_k<Kernel>(args)),
          first_(work_item<Kernel>(args, index_, rank_)) {}

    // Calls visit with each item.
    template <class Visit>
    __device__ void for_each(Visit&& visit) const {
        for_each_in_turn<1>(0, visit, [](int) {});
    }
    // The same where `takers` take the items in turn: visit is called with the items of the taker `whose`, and leave_out with the number of
    // tiles of each other item.
    template <int takers, class Visit, class LeaveOut>
    __device__ void for_each_in_turn(int whose, Visit&& visit, LeaveOut&& leave_out) const {
        const unsigned distance = gridDim.x / cluster_size(Kernel::config);
        int taker = 0;
        WorkItem item = first_;
        for (unsigned index = index_; index < items_; index += distance) {
            if (taker == whose) {
                if (index != index_) item = work_item<Kernel>(args_, index, rank_);
                visit(item);
            } else {
                // Where K is divided, its parts may have different numbers of tiles.
                leave_out(Kernel::config.split_k == 1 ? tiles_of_part<Kernel>(args_, 0) : work_item<Kernel>(args_, index, rank_).tiles);
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
    // Index of the block's, or its cluster's, first item; and the number of items of all blocks.
    unsigned index_;
    unsigned items_;
    WorkItem first_;
};

}  // namespace tmm::wgmma
