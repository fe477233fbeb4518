// Strips that are multiplied while operands are packed: which, by whom they are added up, and what that takes.
#include <doctest/doctest.h>

#include <string>

#include "generator/choice/validity.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/schedule/packing.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/plan_testing.h"

using namespace tmm;

namespace {

const DeviceInfo kHopper = assumed_device("90");

KernelConfig config_of(const std::string& changes) {
    return parse_config("family=simt,block_k=32,thread_m=8,thread_n=8,stages=2,async_copy=3,vector_width=4,boundary=peeled,trim=2," +
                        changes);
}
LaunchPlan plan_of(const char* shape, const std::string& changes) {
    const GemmProblem problem = parse_shape(shape).problem;
    CHECK(why_invalid(problem, config_of(changes), kHopper).value_or("") == "");
    return make_launch_plan(problem, config_of(changes), kHopper);
}

}  // namespace

TEST_CASE("a plan has no kernels of their own for strips that pack multiplies") {
    const LaunchPlan plan = plan_of("1025x1025x1025", "block_m=64,block_n=64,min_blocks=4,pack_ab=3");
    REQUIRE(plan.steps.size() == 2);
    CHECK(name_of(plan.steps[0]) == "pack");
    CHECK(name_of(plan.steps[1]) == "simt");
    CHECK(plan.steps[1].extent == Extent{.rows = 1024, .columns = 1024});
    CHECK(plan.steps[1].grid == 256 + plan.steps[1].blocks_for_strips);
    // The workspace holds the packed operands, and for each element of a strip four sums of each of 16 squares along K.
    const std::int64_t packed = 2 * 1024 * 1088;
    CHECK(plan.workspace_bytes == 4 * (packed + 2 * 1024 * 16 * 4));
    CHECK(plan.steps[0].grid == 2 * 16 * 16);
}

TEST_CASE("blocks that add strips up leave those that multiply an SM each, where the last wave does") {
    const auto blocks_of = [](const char* shape, const char* changes) { return plan_of(shape, changes).steps[1].blocks_for_strips; };
    // 256 tiles on 132 SMs leave 8 places of the second round; 64 leave 68, more than there is work for: 1 + 1 pieces of 128 sums for each
    // 128 of a side, and the corner.
    CHECK(blocks_of("1025x1025x1025", "block_m=64,block_n=64,min_blocks=4,pack_ab=3") == 8);
    CHECK(blocks_of("513x513x513", "block_m=64,block_n=64,min_blocks=4,pack_ab=3") == 9);
    CHECK(blocks_of("514x513x513", "block_m=64,block_n=64,min_blocks=4,pack_ab=3") == 4 + 2 * 4 + 2);
    // There are more thread blocks where each would have so many pieces that the others wait for it.
    CHECK(blocks_of("65x65x65 batch=500", "block_m=64,block_n=64,min_blocks=4,pack_ab=3") == 3 * 500);
    CHECK(blocks_of("65x65x300 batch=500", "block_m=64,block_n=64,min_blocks=4,pack_ab=3") == 3 * 500 / 2);
    CHECK(blocks_of("2049x2049x2049", "block_m=128,block_n=128,min_blocks=1,pack_ab=3") == 8);
    // The thread blocks form whole clusters.
    CHECK(blocks_of("513x513x513", "block_m=64,block_n=64,pack_ab=3,split_k=4,cluster=4") % 4 == 0);
}

TEST_CASE("a strip too wide, or of an operand that is not packed, stays a kernel's own, and the corner with it") {
    for (const auto& [shape, packing, strip] : {std::tuple{"130x137x200", "pack_ab=3", Extent{.column0 = 128, .rows = 130, .columns = 9}},
                                                std::tuple{"137x130x200", "pack_ab=3", Extent{.row0 = 128, .rows = 9, .columns = 130}},
                                                std::tuple{"132x132x200", "pack_ab=1", Extent{.row0 = 128, .rows = 4, .columns = 132}}}) {
        CAPTURE(shape);
        const LaunchPlan plan = plan_of(shape, std::string("block_m=64,block_n=64,") + packing);
        REQUIRE(plan.steps.size() == 3);
        CHECK(name_of(plan.steps[2]) == "gemv");
        CHECK(plan.steps[2].extent == strip);
    }
}
