// Stream-K: how blocks share the tiles of C that do not make whole waves (Osama, Merrill, Cecka, Garland, Owens: "Stream-K: Work-centric
// Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU", PPoPP 2023). The phases of these tiles make one long line,
// of which every block takes an even stretch, wherever it begins and ends:
//
//   tiles             0           1           2            3 tiles of 4 phases for 4 blocks
//   phases       |. . . .    |. . . .    |. . . .   |
//   blocks       |0 0 0 1    |1 1 2 2    |2 3 3 3   |      block 1 has a part of tile 0, and one of tile 1
//
// A block that has a tile to itself stores it. Of a tile that it shares it leaves its part for a second kernel to add up
// (steps/fixup/kernel.cuh); it has two such parts at most, one at either end of its stretch. The blocks after these have whole tiles, as
// usual.
#pragma once

#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/config.h"

namespace tmm {

// Phases from begin up to end, on the line of all tiles' phases.
struct Stretch {
    i64 begin;
    i64 end;
};

// The line of phases, and the blocks that share it.
struct PhaseLine {
    // Phases of a tile.
    i64 phases;
    // How many of the first tiles are shared, and by how many blocks; there are no more blocks than phases.
    i64 tiles;
    i64 blocks;

    constexpr i64 begin_of(i64 block) const { return block * (tiles * phases) / blocks; }
    constexpr Stretch stretch_of(i64 block) const {
        if (block < blocks) return {begin_of(block), begin_of(block + 1)};
        const i64 tile = tiles + block - blocks;
        return {tile * phases, (tile + 1) * phases};
    }
    constexpr i64 first_tile(const Stretch& stretch) const { return stretch.begin / phases; }
    // How many of the stretch's phases belong to its first tile.
    constexpr i64 phases_of_first_tile(const Stretch& stretch) const {
        const i64 left = (first_tile(stretch) + 1) * phases - stretch.begin;
        return left < stretch.end - stretch.begin ? left : stretch.end - stretch.begin;
    }

    // The last block whose stretch begins with the phase or before it.
    constexpr i64 block_of(i64 phase) const { return ((phase + 1) * blocks - 1) / (tiles * phases); }

    // The number of the block's part of a tile among all blocks' parts.
    constexpr i64 part_of(i64 block, i64 tile) const { return 2 * block + (begin_of(block) < tile * phases ? 1 : 0); }
};

constexpr i64 parts_of_blocks(i64 blocks) {
    return 2 * blocks;
}

// Without K a tile has one empty phase, in which it is stored all the same.
constexpr i64 phases_of_tile(const KernelConfig& c, i64 k) {
    return k > 0 ? (k + c.block_k - 1) / c.block_k : 1;
}

constexpr PhaseLine phase_line(const KernelConfig& c, const GemmArgs& args) {
    return PhaseLine{.phases = phases_of_tile(c, args.k), .tiles = args.stream_tiles, .blocks = args.stream_blocks};
}

// How many of the first tiles are shared: the tiles beyond whole waves of `slots` blocks; and one wave more where a block would get less
// than half a tile, whose parts cost as much as those of a whole tile.
constexpr i64 tiles_to_share(i64 tiles, i64 slots) {
    const i64 rest = tiles % slots;
    return tiles > slots && rest > 0 && 2 * rest < slots ? rest + slots : rest;
}

// The fewest phases that a block takes.
constexpr i64 kShortestStretch = 4;

// How many blocks share so many tiles.
constexpr i64 sharing_blocks(i64 tiles, i64 phases, i64 slots) {
    const i64 most = tiles * phases / kShortestStretch;
    return most < 1 ? 1 : most < slots ? most : slots;
}

}  // namespace tmm
