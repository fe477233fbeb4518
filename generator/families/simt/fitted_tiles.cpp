#include "generator/families/simt/simt.h"

#include <algorithm>
#include <optional>

namespace tmm {
namespace {

struct ThreadTile {
    int m;
    int n;
};
constexpr ThreadTile kThreadTiles[] = {{4, 4}, {4, 8},  {8, 4},  {8, 8},  {4, 12}, {12, 4},
                                       {2, 4}, {2, 12}, {12, 2}, {8, 12}, {12, 8}, {2, 8}};

// Longer sides leave little of ordinary tiles beyond them.
constexpr std::int64_t kLongestSide = 256;
constexpr std::int64_t kLongestPart = 128;
constexpr int kMostParts = 4;
constexpr std::int64_t kMostThreads = 512;
constexpr std::int64_t kWarp = 32;
// Sides are multiples of a vector, and of no more than so many elements beyond what they have to hold.
constexpr std::int64_t kVector = 4;
constexpr std::int64_t kSpare = 32;
constexpr std::int64_t kOrdinarySide = 32;
constexpr double kWorthwhile = 0.9;

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
    return (value + unit - 1) / unit * unit;
}

// The elements of all tiles that cover C.
std::int64_t covered(std::int64_t m, std::int64_t n, std::int64_t block_m, std::int64_t block_n) {
    return round_up(m, block_m) * round_up(n, block_n);
}

// What tiles have to hold of a side of C: all of it or an equal part of it, where it is short.
std::vector<std::int64_t> lengths_to_hold(std::int64_t side) {
    if (side > kLongestSide) return {kLongestPart / 2, kLongestPart};
    std::vector<std::int64_t> lengths;
    for (int parts = 1; parts <= kMostParts; ++parts)
        if (const std::int64_t length = (side + parts - 1) / parts; length <= kLongestPart) lengths.push_back(length);
    return lengths;
}

// The tile of such threads that covers C with the fewest elements; the largest of those that do so with as many.
std::optional<FittedTile> fitted_tile(std::int64_t m, std::int64_t n, ThreadTile thread) {
    std::optional<FittedTile> best;
    const auto is_better = [&](const FittedTile& tile) {
        if (!best) return true;
        const std::int64_t its = covered(m, n, tile.block_m, tile.block_n);
        const std::int64_t least = covered(m, n, best->block_m, best->block_n);
        return its != least ? its < least : tile.block_m * tile.block_n > best->block_m * best->block_n;
    };
    for (const std::int64_t rows : lengths_to_hold(m)) {
        for (const std::int64_t columns : lengths_to_hold(n)) {
            for (std::int64_t block_m = round_up(rows, thread.m); block_m < rows + kSpare; block_m += thread.m) {
                for (std::int64_t block_n = round_up(columns, thread.n); block_n < columns + kSpare; block_n += thread.n) {
                    const std::int64_t threads = block_m / thread.m * (block_n / thread.n);
                    if (threads % kWarp != 0 || threads > kMostThreads || block_m % kVector != 0 || block_n % kVector != 0) continue;
                    const FittedTile tile{static_cast<int>(block_m), static_cast<int>(block_n), thread.m, thread.n};
                    if (is_better(tile)) best = tile;
                }
            }
        }
    }
    return best;
}

}  // namespace

std::vector<FittedTile> fitted_tiles(std::int64_t m, std::int64_t n) {
    std::vector<FittedTile> tiles;
    if (std::min(m, n) > kLongestSide) return tiles;
    const double most = kWorthwhile * static_cast<double>(covered(m, n, kOrdinarySide, kOrdinarySide));
    for (const ThreadTile& thread : kThreadTiles) {
        const std::optional<FittedTile> tile = fitted_tile(m, n, thread);
        if (tile && static_cast<double>(covered(m, n, tile->block_m, tile->block_n)) <= most) tiles.push_back(*tile);
    }
    return tiles;
}

}  // namespace tmm
