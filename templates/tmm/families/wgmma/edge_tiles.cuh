// With boundary mode peeled a block brings only a part of a tile that reaches beyond the matrix: the rows that exist, in boxes of their
// own, where rows run along K, and the slabs that exist where rows run along M or N.
//
//     rows along K:   k ->                             rows along M or N:
//           +-----------------+  +-----------------+         +-----------------+  +------------+----+  . . . . . . . . .
//           | rows that exist |  | in every slab   |     k   | a slab within   |  | the edge   |    |  . one beyond it .
//           +-----------------+  +-----------------+     v   | the matrix      |  | lies in it |    |  . is left out   .
//           .    left out     .  .                 .         |                 |  |            |    |  .               .
//           . . . . . . . . . .  . . . . . . . . . .         +-----------------+  +------------+----+  . . . . . . . . .
//
// A tile that several blocks share comes whole all the same: a block that waits for no other block's share could tell another block that it
// has read a stage before others told that block of the stage before. A tile that is brought in a gate's halves comes whole, too. What
// shared memory holds in the place of the rest, NaN perhaps, is multiplied all the same, into rows and columns that are not stored.
#pragma once

#include "tmm/families/wgmma/items.cuh"

namespace tmm::wgmma {

// What a block brings of one tile in each phase: its bytes, its slabs, and the map that they are brought by, if any are.
struct Brought {
    int bytes;
    int slabs;
    const TensorMap* map;
};

template <const TileLayout& tile>
__device__ inline Brought all_of(const TensorMap& whole) {
    return {tile_bytes(tile), slabs(tile), &whole};
}

// edge: the map of the matrix's last rows, fewer than a tile has; existing: the rows, or columns, of the tile that exist.
template <class Kernel, const TileLayout& tile, int sharers, bool in_halves>
__device__ inline Brought brought_of(const TensorMap& whole, const TensorMap& edge, int existing) {
    if constexpr (sharers > 1 || in_halves || (!tile.along_k && slabs_end_with_matrix(Kernel::config, Kernel::signature, tile))) {
        return all_of<tile>(whole);
    } else if constexpr (tile.along_k) {
        const TensorMap* const map = existing < tile.outer ? &edge : &whole;
        return {existing * (tile_bytes(tile) / tile.outer), slabs(tile), existing > 0 ? map : nullptr};
    } else {
        const int reached = (existing + row_elements(tile) - 1) / row_elements(tile);
        return {reached * slab_bytes(tile) * tile.planes, reached, &whole};
    }
}

// Do all of the item's rows and columns exist, or does it make no difference?
template <class Kernel>
__device__ inline bool is_inner(const WorkItem& item) {
    return Kernel::config.boundary != boundary::peeled ||
           (item.existing_left == Kernel::config.block_m && item.existing_right == Kernel::config.block_n);
}

}  // namespace tmm::wgmma
