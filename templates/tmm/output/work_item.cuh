// The work of a block of a tiled product.
#pragma once

#include "tmm/output/output.cuh"
#include "tmm/tile/raster.cuh"
#include "tmm/tile/stream.h"
#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/config.h"

namespace tmm {

// The work of a block: a tile of C, and a part of K.
struct WorkItem : TileOfC {
    int split;
    // The part of K, and how many tiles of block_k it makes.
    i64 k_begin;
    i64 k_end;
    int tiles;
};

// The place of the index-th of all of the batch's tiles. Where index counts all tiles several times, `batch` says how many times all of C's
// tiles come before it. Index is a type that holds their number.
template <class Kernel, class Index>
__device__ inline TileOfC tile_of_c(const GemmArgs& args, Index index) {
    const Index tiles_m = static_cast<Index>((args.m + Kernel::config.block_m - 1) / Kernel::config.block_m);
    const Index tiles_n = static_cast<Index>((args.n + Kernel::config.block_n - 1) / Kernel::config.block_n);
    const TilePlace<Index> place = tile_place(index % (tiles_m * tiles_n), tiles_m, tiles_n, args.raster);
    return TileOfC{.row0 = static_cast<i64>(place.m) * Kernel::config.block_m,
                   .column0 = static_cast<i64>(place.n) * Kernel::config.block_n,
                   .batch = static_cast<i64>(index / (tiles_m * tiles_n))};
}

// index: the block's index, in a type that holds the number of items.
template <class Kernel, class Index>
__device__ inline WorkItem work_item(const GemmArgs& args, Index index) {
    // The blocks of a cluster, which follow each other, take parts of one tile.
    constexpr Index cluster = Kernel::config.cluster;
    const Index rank = index % cluster;
    const Index clusters_k = static_cast<Index>(args.split_k) / cluster;
    WorkItem item;
    static_cast<TileOfC&>(item) = tile_of_c<Kernel>(args, index / cluster);
    const Index rest = static_cast<Index>(item.batch);
    item.batch = rest / clusters_k;
    item.split = static_cast<int>(rest % clusters_k * cluster + rank);
    item.k_begin = item.split * args.k_per_split;
    item.k_end = item.k_begin + args.k_per_split < args.k ? item.k_begin + args.k_per_split : args.k;
    item.tiles =
        item.k_end > item.k_begin ? static_cast<int>((item.k_end - item.k_begin + Kernel::config.block_k - 1) / Kernel::config.block_k) : 0;
    return item;
}

// The first tile of a stretch, and the part of K that belongs to the stretch.
template <class Kernel>
__device__ inline WorkItem first_work_item(const GemmArgs& args, const PhaseLine& line, const Stretch& stretch) {
    const i64 tile = line.first_tile(stretch);
    const i64 phase = stretch.begin - tile * line.phases;
    const i64 phases = line.phases_of_first_tile(stretch);
    WorkItem item;
    static_cast<TileOfC&>(item) = tile_of_c<Kernel>(args, static_cast<unsigned>(tile));
    item.split = 0;
    item.k_begin = phase * Kernel::config.block_k;
    item.k_end = (phase + phases) * Kernel::config.block_k < args.k ? (phase + phases) * Kernel::config.block_k : args.k;
    item.tiles = args.k > 0 ? static_cast<int>(phases) : 0;
    return item;
}

template <class Kernel>
__device__ inline Output<Kernel, is_partial<Kernel>> output_of(const GemmArgs& args, const WorkItem& item) {
    return output_of<Kernel>(args, item.batch, item.split, args.one);
}

// Calls store<guarded>(): with checks of the matrix's edges where the boundary mode and the tile's place want them.
template <class Kernel, class Store>
__device__ inline void store_by_boundary(const GemmArgs& args, const WorkItem& item, Store&& store) {
    const bool inside = item.row0 + Kernel::config.block_m <= args.m && item.column0 + Kernel::config.block_n <= args.n;
    if constexpr (Kernel::config.boundary == boundary::exact) {
        store.template operator()<false>();
    } else if constexpr (Kernel::config.boundary == boundary::guarded) {
        store.template operator()<true>();
    } else {
        if (inside)
            store.template operator()<false>();
        else
            store.template operator()<true>();
    }
}

}  // namespace tmm
