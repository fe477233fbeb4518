// Tests how many thread blocks of a product pack its operands, and how much is packed before it.
#include <doctest/doctest.h>

#include <string>

#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/schedule/packing.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"

using namespace tmm;

namespace {

const std::string kTile =
    "family=simt,block_m=128,block_n=128,block_k=32,thread_m=8,thread_n=16,stages=2,async_copy=3,vector_width=4,boundary=peeled,min_blocks="
    "2";

PackingBeside packing_of(const char* shape, const std::string& changes) {
    return schedule_of(parse_shape(shape).problem, parse_config(kTile + changes), assumed_device("90")).packing;
}

}  // namespace

TEST_CASE("packers go to SMs that have a block less to multiply, and are no more than a warp can ask") {
    // On 132 SMs 256 tiles leave 8 SMs of the second round free; 1,024 tiles leave 32 of the eighth; 64 tiles leave 68 of the first.
    CHECK(packing_of("2048x2048x2048", ",pack_ab=5").packers == 8);
    CHECK(packing_of("4096x4096x4096", ",pack_ab=5").packers == 32);
    CHECK(packing_of("1024x1024x1024", ",pack_ab=5").packers == 32);
    CHECK(packing_of("2048x2048x2048", ",pack_ab=1").packers == 0);
    CHECK(packing_of("2048x2048x2048", "").packers == 0);
    // 392 tiles, which leave 136 of 528 places, but 4 of three to an SM: a fourth takes a third longer.
    const std::string smaller =
        "family=simt,block_m=128,block_n=64,block_k=32,thread_m=8,thread_n=8,stages=2,async_copy=3,vector_width=4,min_blocks=4,pack_ab=5";
    CHECK(schedule_of(parse_shape("1792x1792x1792").problem, parse_config(smaller), assumed_device("90")).packing.packers == 4);
}

TEST_CASE("what packers can't do in time is packed before") {
    // 32 rows of squares: few packers for both operands have twice as much to do as for one.
    const int of_one = packing_of("2048x2048x2048", ",pack_ab=5").first_row;
    const int of_both = packing_of("2048x2048x2048 ops=nt", ",pack_ab=7").first_row;
    CHECK(of_one >= 1);
    CHECK(of_both > of_one);
    CHECK(of_both < 32);
    // The product's grid has the packers' blocks, too; what they pack is left out of the kernel before.
    const auto plan_of = [](const char* changes) {
        return make_launch_plan(parse_shape("2048x2048x2048").problem, parse_config(kTile + changes), assumed_device("90"));
    };
    const LaunchPlan beside = plan_of(",pack_ab=5");
    const LaunchPlan before = plan_of(",pack_ab=1");
    REQUIRE(beside.steps.size() == 2);
    REQUIRE(before.steps.size() == 2);
    CHECK(beside.steps[1].grid == before.steps[1].grid + 8);
    CHECK(before.steps[0].grid == 32 * 32);
    CHECK(beside.steps[0].grid == of_one * 32);
    CHECK(share_packed_before(beside) == doctest::Approx(of_one / 32.0));
    CHECK(share_packed_before(before) == 1);
}
