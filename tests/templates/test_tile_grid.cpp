// The order of wgmma's tiles, and the divisions that it is found by.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "tmm/schedule/tile_grid.h"

using namespace tmm;

TEST_CASE("a divisor divides as the processor does") {
    constexpr unsigned last = (1u << 31) - 1;
    std::vector<unsigned> numbers;
    for (unsigned number = 1; number <= 1025; ++number) numbers.push_back(number);
    for (unsigned shift = 11; shift < 31; ++shift)
        for (const unsigned number : {(1u << shift) - 1, 1u << shift, (1u << shift) + 1, (1u << shift) + (1u << (shift - 1)) + 7})
            numbers.push_back(number);
    numbers.insert(numbers.end(), {last - 1, last, 1u << 31});
    for (const unsigned number : numbers) {
        const Divisor by = divisor(number);
        CAPTURE(number);
        const unsigned whole = last / number * number;
        for (const unsigned dividend : {0u, 1u, number - 1, number, number + 1, 2 * (number / 2), whole - 1, whole, last - 1, last}) {
            if (dividend > last) continue;
            CAPTURE(dividend);
            CHECK(quotient(dividend, by) == dividend / number);
        }
        for (std::uint64_t step = 1; step * step < last; step = step * 3 + 1) {
            const auto dividend = static_cast<unsigned>(step * step);
            CHECK(quotient(dividend, by) == dividend / number);
        }
    }
}

TEST_CASE("tiles are walked column by column in bands of rows, the last of which may be lower") {
    for (const std::int64_t rows : {1, 2, 7, 16, 17}) {
        for (const std::int64_t columns : {1, 3, 8}) {
            for (const int raster : {0, 1, 2, 4, 16, 64}) {
                CAPTURE(rows);
                CAPTURE(columns);
                CAPTURE(raster);
                const TileGrid grid = tile_grid(rows, columns, raster);
                CHECK(grid.tiles.number == rows * columns);
                unsigned tile = 0;
                const std::int64_t height = raster < 1 ? 1 : raster;
                for (std::int64_t first = 0; first < rows; first += height) {
                    for (std::int64_t column = 0; column < columns; ++column) {
                        for (std::int64_t row = first; row < rows && row < first + height; ++row, ++tile) {
                            CHECK(tile_of(grid, tile).row == row);
                            CHECK(tile_of(grid, tile).column == column);
                        }
                    }
                }
            }
        }
    }
}
