// What a block brings of a tile that reaches beyond the matrix, with boundary mode peeled: the rows that exist, in boxes of their own,
// where rows run along K; the slabs that do where they run along M or N.
//
//     rows along K:   k ->                             rows along M or N:
//           +-----------------+  +-----------------+         +-----------------+  +------------+----+  . . . . . . . . .
//           | rows that exist |  | in every slab   |     k   | a slab within   |  | the edge   |    |  . one beyond it .
//           +-----------------+  +-----------------+     v   | the matrix      |  | lies in it |    |  . is left out   .
//           .    left out     .  .                 .         |                 |  |            |    |  .               .
//           . . . . . . . . . .  . . . . . . . . . .         +-----------------+  +------------+----+  . . . . . . . . .
//
// What shared memory holds in the place of the rest, NaN perhaps, is multiplied all the same, into rows and columns that are not stored.
#pragma once

#include "tmm/wgmma_items.cuh"

namespace tmm::wgmma {

// Of one tile in each phase: bytes that all who share it bring, slabs, and the map that this block brings its share by, if it has any.
struct Brought {
    int bytes;
    int slabs;
    const TensorMap* map;
};

// Of a tile that `shares` blocks bring a part of each, the first of a slab's rows that are this one's.
template <TileLayout tile, int shares>
__device__ inline int first_row(unsigned share) {
    return shares > 1 ? static_cast<int>(share) * (slab_rows(tile) / shares) : 0;
}

template <TileLayout tile>
__device__ inline Brought all_of(const TensorMap& whole) {
    return {tile_bytes(tile), slabs(tile), &whole};
}

// edge: the map of the matrix's last rows, fewer than a box has; existing: rows, or columns, of the tile; share: this block's.
template <KernelSignature signature, KernelConfig config, TileLayout tile, int shares>
__device__ inline Brought brought_of(const TensorMap& whole, const TensorMap& edge, int existing, unsigned share) {
    if constexpr (tile.along_k) {
        const int of_share = existing - first_row<tile, shares>(share);
        const TensorMap* const map = of_share >= slab_rows(tile) / shares ? &whole : &edge;
        return {existing * (tile_bytes(tile) / tile.outer), slabs(tile), of_share > 0 ? map : nullptr};
    } else if constexpr (slabs_end_with_matrix(config, signature, tile)) {
        return all_of<tile>(whole);
    } else {
        const int reached = (existing + row_elements(tile) - 1) / row_elements(tile);
        return {reached * slab_bytes(tile) * tile.planes, reached, &whole};
    }
}

// Do all of the item's rows and columns exist, or is it all the same?
template <KernelConfig config>
__device__ inline bool is_inner(const WorkItem& item) {
    return config.boundary != boundary::peeled || (item.existing_left == config.block_m && item.existing_right == config.block_n);
}

}  // namespace tmm::wgmma
