// Tiles of simt that are made for a C with few rows or columns, so that little of them lies beyond its edges.
#pragma once

#include <cstdint>
#include <vector>

namespace tmm {

struct FittedTile {
    int block_m;
    int block_n;
    int thread_m;
    int thread_n;
};

// The tiles worth trying for m x n elements of C, one of each shape of thread tile at most: those that hold a tenth less than tiles with
// sides of a multiple of 32. There are none where C is large both ways.
std::vector<FittedTile> fitted_tiles(std::int64_t m, std::int64_t n);

}  // namespace tmm
