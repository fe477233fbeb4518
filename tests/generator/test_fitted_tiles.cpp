// Tiles of simt that are made for a C with few rows or columns.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "generator/choice/search_space.h"
#include "generator/families/simt/simt.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tmm/families/simt/rules.h"

using tmm::FittedTile;

namespace {

std::int64_t covered(std::int64_t m, std::int64_t n, std::int64_t block_m, std::int64_t block_n) {
    return (m + block_m - 1) / block_m * block_m * ((n + block_n - 1) / block_n * block_n);
}

tmm::KernelConfig config_of(const FittedTile& tile) {
    return {.family = tmm::family::simt,
            .block_m = tile.block_m,
            .block_n = tile.block_n,
            .block_k = 16,
            .thread_m = tile.thread_m,
            .thread_n = tile.thread_n,
            .stages = 3,
            .async_copy = 1,
            .vector_width = 4,
            .boundary = tmm::boundary::peeled};
}

}  // namespace

TEST_CASE("Every fitted tile is one that simt takes, and holds a tenth less than tiles with sides of a multiple of 32") {
    std::mt19937 random(1);
    std::uniform_int_distribution<int> few(1, 256);
    std::uniform_int_distribution<int> many(1, 20000);
    int tiles = 0;
    for (int i = 0; i < 400; ++i) {
        const int m = i % 3 == 1 ? many(random) : few(random);
        const int n = i % 3 == 2 ? many(random) : few(random);
        for (const FittedTile& tile : tmm::fitted_tiles(m, n)) {
            CAPTURE(m);
            CAPTURE(n);
            const tmm::KernelConfig config = config_of(tile);
            CAPTURE(tmm::to_text(config));
            for (const char* const ops : {"nn", "nt", "tn", "tt"}) {
                const tmm::GemmProblem problem = tmm::parse_shape("96 64 32 ops=" + std::string(ops)).problem;
                const char* const violation = tmm::simt::first_violation(config, tmm::signature_of(problem));
                CHECK_MESSAGE(!violation, violation);
            }
            CHECK(10 * covered(m, n, tile.block_m, tile.block_n) <= 9 * covered(m, n, 32, 32));
            ++tiles;
        }
    }
    CHECK(tiles > 400);
}

TEST_CASE("A C of whole ordinary tiles, or large both ways, gets no fitted ones") {
    CHECK(tmm::fitted_tiles(64, 96).empty());
    CHECK(tmm::fitted_tiles(4096, 128).empty());
    CHECK(tmm::fitted_tiles(257, 1000).empty());
}

TEST_CASE("Searches try tiles that fit C") {
    const tmm::DeviceInfo device = tmm::assumed_device("90");
    for (const char* const text :
         {"71 71 71 batch=800", "45 45 45 batch=1500", "12345 67 89 compute=f32_strict", "40 9000 4000 compute=f32_strict"}) {
        CAPTURE(text);
        const tmm::GemmProblem problem = tmm::parse_shape(text).problem;
        const std::vector<FittedTile> tiles = tmm::fitted_tiles(problem.m, problem.n);
        REQUIRE(!tiles.empty());
        const auto configs = tmm::search_space(problem, device, tmm::Effort::normal).candidates;
        CHECK(std::any_of(configs.begin(), configs.end(), [&](const tmm::KernelConfig& config) {
            return config.family == tmm::family::simt && std::any_of(tiles.begin(), tiles.end(), [&](const FittedTile& tile) {
                       return tile.block_m == config.block_m && tile.block_n == config.block_n && tile.thread_m == config.thread_m;
                   });
        }));
    }
}
