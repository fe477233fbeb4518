// Stream-K's line of phases: who has which, and where its parts stand.
#include <doctest/doctest.h>

#include <set>

#include "generator/choice/validity.h"
#include "generator/families/family.h"
#include "generator/families/simt/simt.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/plan_testing.h"

using namespace tmm;

TEST_CASE("every phase of every tile belongs to one block, stretches differ by a phase at most, and no two parts stand in one place") {
    for (const i64 tiles : {1, 2, 3, 7, 33}) {
        for (const i64 phases : {1, 2, 3, 5, 16, 67}) {
            for (i64 blocks = 1; blocks <= tiles * phases && blocks <= 48; ++blocks) {
                const PhaseLine line{.phases = phases, .tiles = tiles, .blocks = blocks};
                CAPTURE(tiles);
                CAPTURE(phases);
                CAPTURE(blocks);
                i64 next = 0;
                std::set<i64> places;
                i64 parts = 0;
                for (i64 block = 0; block < blocks; ++block) {
                    const Stretch all = line.stretch_of(block);
                    REQUIRE(all.begin == next);
                    REQUIRE(all.end - all.begin >= tiles * phases / blocks);
                    REQUIRE(all.end - all.begin <= (tiles * phases + blocks - 1) / blocks);
                    next = all.end;
                    for (Stretch left = all; left.begin < left.end; left.begin += line.phases_of_first_tile(left)) {
                        const i64 tile = line.first_tile(left);
                        const i64 taken = line.phases_of_first_tile(left);
                        REQUIRE(left.begin / phases == (left.begin + taken - 1) / phases);
                        REQUIRE(line.block_of(left.begin) == block);
                        REQUIRE(line.block_of(left.begin + taken - 1) == block);
                        if (taken == phases) continue;
                        ++parts;
                        REQUIRE(line.part_of(block, tile) < parts_of_blocks(blocks));
                        places.insert(line.part_of(block, tile));
                    }
                }
                CHECK(next == tiles * phases);
                CHECK(static_cast<i64>(places.size()) == parts);
                CHECK(line.stretch_of(blocks).begin == tiles * phases);
                CHECK(line.stretch_of(blocks + 2).end == (tiles + 3) * phases);
            }
        }
    }
}

TEST_CASE("tiles beyond whole waves are shared, one wave more where the rest is small, and none of whole waves") {
    CHECK(tiles_to_share(512, 132) == 512 - 3 * 132);
    CHECK(tiles_to_share(140, 132) == 140);
    CHECK(tiles_to_share(2 * 132 + 8, 132) == 132 + 8);
    CHECK(tiles_to_share(90, 132) == 90);
    CHECK(tiles_to_share(4, 132) == 4);
    CHECK(tiles_to_share(264, 132) == 0);
    CHECK(sharing_blocks(90, 64, 132) == 132);
    CHECK(sharing_blocks(2, 8, 132) == 4);
    CHECK(sharing_blocks(1, 3, 132) == 1);
}

TEST_CASE("a plan with stream_k launches fewer blocks than tiles, and a second kernel that adds up what they share") {
    const DeviceInfo device = assumed_device("sm_90a");
    const GemmProblem problem = parse_shape("4096x4096x4096 compute=f32_strict").problem;
    KernelConfig config = parse_config(
        "family=simt,block_m=128,block_n=256,block_k=16,thread_m=8,thread_n=8,stages=3,async_copy=1,vector_width=4,"
        "boundary=exact,raster=8,stream_k=1");
    REQUIRE(!why_invalid(problem, config, device));
    const LaunchPlan plan = make_launch_plan(problem, config, device);
    REQUIRE(plan.steps.size() == 2);
    CHECK(plan.steps[0].grid == 132 + 3 * 132);
    CHECK(name_of(plan.steps[1]) == "fixup");
    CHECK(plan.steps[1].grid == 116 * (128 * 256 / 4 / 256));
    CHECK(plan.workspace_bytes == 2 * 132 * 128 * 256 * 4);

    const GemmProblem whole = parse_shape("4224x1024x4096").problem;
    CHECK(why_invalid(whole, config, device) == "stream_k has no tiles to share: they make whole waves");
    config.split_k = 2;
    CHECK(why_invalid(problem, config, device) == "stream_k divides K itself: split_k and cluster are 1");
}

TEST_CASE("the search offers stream-K where tiles leave places of the SMs idle, and only what is valid") {
    const DeviceInfo device = assumed_device("sm_90a");
    for (const char* text : {"1536x1536x1536 compute=f32_strict", "1000x3000x2000 ops=nt", "64x64x64 batch=100", "33x35x37"}) {
        CAPTURE(text);
        const GemmProblem problem = parse_shape(text).problem;
        bool some = false;
        for (const KernelConfig& config : simt_configs(problem, device)) {
            if (config.stream_k == 0) continue;
            some = true;
            CAPTURE(to_text(config));
            const std::string reason = why_invalid(problem, config, device).value_or("");
            // Its progress takes shared memory, too, for which there may be no room.
            KernelConfig without = config;
            without.stream_k = 0;
            CHECK((reason.empty() || reason.find("shared memory") != std::string::npos || why_invalid(problem, without, device)));
        }
        CHECK(some);
    }
    // 8 x 66 tiles of 64 x 64 are four for each of 132 SMs.
    for (const KernelConfig& config : simt_configs(parse_shape("512x4224x1024").problem, device))
        if (config.block_m == 64 && config.block_n == 64 && config.min_blocks == 4) CHECK(config.stream_k == 0);
}
