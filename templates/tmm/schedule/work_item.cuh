// Which tile of C and which part of K a block works on, and in which order blocks take the tiles.
#pragma once

#include "tmm/schedule/stream.h"
#include "tmm/schedule/triangle.h"
#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/config.h"

namespace tmm {

// A tile's first row and column of C, and the member of the batch.
struct TileOfC {
    i64 row0;
    i64 column0;
    i64 batch;
};

// With raster = 0 blocks take tiles row by row; otherwise they take bands of `raster` tile rows, column by column within a band, so that
// blocks that run together share rows and columns in L2.
template <class Index>
__device__ inline TilePlace<Index> tile_place(Index tile, Index tiles_m, Index tiles_n, int raster) {
    if (raster == 0) return {tile / tiles_n, tile % tiles_n};
    const Index most_rows = static_cast<Index>(raster);
    const Index band = tile / (most_rows * tiles_n);
    const Index in_band = tile % (most_rows * tiles_n);
    const Index rows_left = tiles_m - band * most_rows;
    const Index rows = rows_left < most_rows ? rows_left : most_rows;
    return {band * most_rows + in_band % rows, in_band / rows};
}

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
    constexpr Result result = Kernel::signature.result;
    constexpr int rows = Kernel::config.block_m;
    constexpr int columns = Kernel::config.block_n;
    const TilesOfC tiles = tiles_of_result(result, args.m, args.n, rows, columns);
    const Index tiles_m = static_cast<Index>(tiles.rows);
    const Index tiles_n = static_cast<Index>(tiles.columns);
    TilePlace<Index> place = tile_place(index % (tiles_m * tiles_n), tiles_m, tiles_n, args.raster);
    if constexpr (result != Result::full) {
        constexpr i64 side = square_side(rows, columns);
        const Index squares = static_cast<Index>((args.m + side - 1) / side);
        place = tile_of_triangle(result, place, squares, static_cast<Index>(side / rows), static_cast<Index>(side / columns));
    }
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

}  // namespace tmm
