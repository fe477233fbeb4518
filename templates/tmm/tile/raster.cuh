// The order in which blocks take the tiles of C.
#pragma once

namespace tmm {

template <class Index>
struct TilePlace {
    Index m;
    Index n;
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

}  // namespace tmm
