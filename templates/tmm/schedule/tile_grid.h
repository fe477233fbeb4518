// The order in which wgmma's blocks take the tiles of C: that of work_item.cuh, with its divisions prepared by the host.
#pragma once

#include "tmm/schedule/divisor.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// Bands of rows of tiles, which are taken column by column; the last band may have fewer rows:
//
//     band 0   | 0 2 4 6 8 |
//              | 1 3 5 7 9 |
//     band 1   | 10 11 …   |
struct TileGrid {
    // Tiles of all of C and of a band; and the rows of tiles of each band but the last, and of the last.
    Divisor tiles;
    Divisor band_tiles;
    Divisor band_rows;
    Divisor last_rows;
    unsigned last_band = 0;
};

// rows, columns: how many tiles, or clusters of tiles, C has in each direction. raster: the rows of a band; 0 stands for one row.
constexpr TileGrid tile_grid(i64 rows, i64 columns, int raster) {
    if (rows <= 0 || columns <= 0) return {};
    const i64 rows_of_band = raster < 1 ? 1 : raster < rows ? raster : rows;
    const i64 bands = (rows + rows_of_band - 1) / rows_of_band;
    return {.tiles = divisor(static_cast<unsigned>(rows * columns)),
            .band_tiles = divisor(static_cast<unsigned>(rows_of_band * columns)),
            .band_rows = divisor(static_cast<unsigned>(rows_of_band)),
            .last_rows = divisor(static_cast<unsigned>(rows - (bands - 1) * rows_of_band)),
            .last_band = static_cast<unsigned>(bands - 1)};
}

// The choice is made by value: of two members the compiler would choose the address, and wait for what stands there.
constexpr Divisor either(bool first, Divisor one, Divisor other) {
    return {.number = first ? +one.number : +other.number,
            .factor = first ? +one.factor : +other.factor,
            .shift = first ? +one.shift : +other.shift};
}

struct TileOfGrid {
    unsigned row;
    unsigned column;
};
constexpr TileOfGrid tile_of(const TileGrid& grid, unsigned tile) {
    const unsigned band = quotient(tile, grid.band_tiles);
    const unsigned in_band = tile - band * grid.band_tiles.number;
    const Divisor rows = either(band == grid.last_band, grid.last_rows, grid.band_rows);
    const unsigned column = quotient(in_band, rows);
    return {band * grid.band_rows.number + in_band - column * rows.number, column};
}

}  // namespace tmm
