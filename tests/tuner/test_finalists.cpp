// Tests which candidates meet in a run-off: the fastest, of several tiles, of more tiles where the clock fell, and the default.
#include <doctest/doctest.h>

#include "tuner/search/sampling.h"

using namespace tmm;

namespace {

struct Measured {
    int block_n;
    double median_us;
    bool throttled = false;
    int raster = 0;
    int ping_pong = 0;
    Outcome outcome = Outcome::ok;
};

std::vector<std::size_t> finalists(const std::vector<Measured>& measured, std::size_t places) {
    std::vector<Candidate> candidates;
    std::vector<std::optional<Measurement>> results;
    for (const Measured& m : measured) {
        candidates.emplace_back().config = {
            .family = family::wgmma, .block_m = 128, .block_n = m.block_n, .raster = m.raster, .ping_pong = m.ping_pong};
        results.push_back(Measurement{.outcome = m.outcome, .median_us = m.median_us, .throttled = m.throttled});
    }
    return pick_finalists(candidates, results, places);
}

// The default, and `tiles` tiles, the first the fastest, in eight rasters each; the rasters of one tile differ less than two tiles.
std::vector<Measured> many(int tiles, bool throttled) {
    std::vector<Measured> measured = {{.block_n = 8, .median_us = 149, .throttled = throttled}};
    for (int tile = 1; tile <= tiles; ++tile)
        for (int raster = 1; raster <= 8; ++raster)
            measured.push_back({.block_n = 8 + 8 * tile, .median_us = 100 + tile + 0.1 * raster, .throttled = throttled, .raster = raster});
    return measured;
}

}  // namespace

TEST_CASE("the fastest come first, the default always, whoever failed never") {
    CHECK(finalists({{.block_n = 8, .median_us = 30},
                     {.block_n = 16, .median_us = 12},
                     {.block_n = 24, .median_us = 9, .outcome = Outcome::wrong_result},
                     {.block_n = 32, .median_us = 10},
                     {.block_n = 40, .median_us = 11}},
                    2) == std::vector<std::size_t>{3, 4, 0});
    CHECK(finalists({{.block_n = 8, .median_us = 30, .outcome = Outcome::spills}, {.block_n = 16, .median_us = 12}}, 2) ==
          std::vector<std::size_t>{1});
    CHECK(finalists({{.block_n = 8, .median_us = 30, .outcome = Outcome::crashed}}, 2).empty());
}

TEST_CASE("one far behind the fastest does not meet it") {
    CHECK(finalists({{.block_n = 8, .median_us = 10}, {.block_n = 16, .median_us = 14.9}, {.block_n = 24, .median_us = 15.1}}, 8) ==
          std::vector<std::size_t>{0, 1});
}

TEST_CASE("a tile gets half of the places, and all that no other claims") {
    CHECK(finalists(many(3, false), 4) == std::vector<std::size_t>{1, 2, 9, 10, 0});
    CHECK(finalists(many(1, false), 4) == std::vector<std::size_t>{1, 2, 0, 3});
}

TEST_CASE("where the clock fell, twice as many meet, of four times as many tiles") {
    const std::vector<std::size_t> found = finalists(many(9, true), 8);
    REQUIRE(found.size() == 17);
    for (std::size_t tile = 0; tile < 8; ++tile) {
        CHECK(found[2 * tile] == 8 * tile + 1);
        CHECK(found[2 * tile + 1] == 8 * tile + 2);
    }
    CHECK(found.back() == 0);
}

TEST_CASE("taking turns makes another tile of it") {
    CHECK(finalists({{.block_n = 8, .median_us = 90},
                     {.block_n = 16, .median_us = 10, .raster = 1},
                     {.block_n = 16, .median_us = 11, .raster = 2},
                     {.block_n = 16, .median_us = 12, .ping_pong = 1}},
                    2) == std::vector<std::size_t>{1, 3, 0});
}
