// Which tiles blocks take where one triangle of C is wanted.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tmm/schedule/triangle.h"

using namespace tmm;

namespace {

struct Tile {
    i64 rows;
    i64 columns;
};

// All tiles that blocks take, each once.
std::set<std::pair<i64, i64>> tiles_taken(Result result, i64 m, Tile tile) {
    const TilesOfC tiles = tiles_of_result(result, m, m, tile.rows, tile.columns);
    const i64 side = square_side(tile.rows, tile.columns);
    std::set<std::pair<i64, i64>> taken;
    for (i64 row = 0; row < tiles.rows; ++row) {
        for (i64 column = 0; column < tiles.columns; ++column) {
            const TilePlace<i64> place =
                tile_of_triangle(result, TilePlace<i64>{row, column}, (m + side - 1) / side, side / tile.rows, side / tile.columns);
            const bool is_new = taken.emplace(place.m, place.n).second;
            CHECK(is_new);
        }
    }
    return taken;
}

}  // namespace

TEST_CASE("blocks take each tile of a triangle once, and every tile that it reaches into") {
    for (const Tile tile : {Tile{1, 1}, Tile{16, 16}, Tile{32, 64}, Tile{64, 32}, Tile{48, 32}, Tile{128, 256}, Tile{192, 128}}) {
        for (const i64 m : {1, 7, 16, 33, 64, 100, 191, 192, 193, 500, 1000}) {
            for (const Result result : {Result::lower, Result::upper}) {
                CAPTURE(tile.rows);
                CAPTURE(tile.columns);
                CAPTURE(m);
                const auto taken = tiles_taken(result, m, tile);
                for (i64 row = 0; row < m; row += tile.rows) {
                    for (i64 column = 0; column < m; column += tile.columns) {
                        const i64 last_row = std::min(m, row + tile.rows) - 1;
                        const i64 last_column = std::min(m, column + tile.columns) - 1;
                        const bool reaches = result == Result::lower ? column <= last_row : row <= last_column;
                        if (reaches) CHECK(taken.count({row / tile.rows, column / tile.columns}) == 1);
                    }
                }
            }
        }
    }
}

TEST_CASE("a triangle of many tiles takes little more than half of them") {
    for (const Tile tile : {Tile{128, 128}, Tile{128, 256}, Tile{256, 128}, Tile{64, 256}}) {
        const i64 m = 8192;
        const auto all = static_cast<double>(tiles_of_result(Result::full, m, m, tile.rows, tile.columns).all());
        const auto of_triangle = static_cast<double>(tiles_of_result(Result::lower, m, m, tile.rows, tile.columns).all());
        CHECK(of_triangle < 0.52 * all);
    }
}
