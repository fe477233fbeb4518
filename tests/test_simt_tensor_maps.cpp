// What TMA is told of the operands of simt's tiles.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "generator/assumed_device.h"
#include "generator/launch_plan.h"
#include "generator/search_space.h"
#include "generator/shapes_file.h"
#include "generator/text.h"
#include "tmm/rules.h"
#include "tmm/simt.h"

using namespace tmm;

namespace {

struct Maps {
    TensorMapRequest a;
    TensorMapRequest b;
    std::int64_t workspace_bytes = 0;
};

constexpr std::uintptr_t kWorkspace = 0x400000000;

Maps maps_of(const char* shape, const std::string& changes) {
    const GemmProblem problem = parse_shape(shape).problem;
    const KernelConfig config = parse_config(
        "family=simt,block_m=64,block_n=128,block_k=32,thread_m=8,thread_n=8,stages=2,async_copy=3,vector_width=4,boundary=peeled" +
        changes);
    const DeviceInfo device = assumed_device("90");
    CHECK(why_invalid(problem, config, device).value_or("") == "");
    const LaunchPlan plan = make_launch_plan(problem, config, device);
    const auto step =
        std::find_if(plan.steps.begin(), plan.steps.end(), [](const LaunchStep& one) { return one.config.family == family::simt; });
    REQUIRE(step != plan.steps.end());
    const auto pointer = [](std::uintptr_t value) { return reinterpret_cast<std::byte*>(value); };
    const GemmCall call{.a = pointer(0x100000000), .b = pointer(0x200000000), .c = pointer(0x300000000), .workspace = pointer(kWorkspace)};
    alignas(64) std::byte arguments[kMaxArgumentBytes];
    step->bind(*step, problem, call, arguments);
    const TensorMapRequests maps = step->tensor_maps(*step, arguments);
    REQUIRE(maps.count == 2);
    return {.a = maps.requests[0], .b = maps.requests[1], .workspace_bytes = plan.workspace_bytes};
}

// Behind the last element that a map of one matrix reaches.
std::uintptr_t end_of(const TensorMapRequest& map) {
    return reinterpret_cast<std::uintptr_t>(map.address) +
           static_cast<std::uintptr_t>((map.rows - 1) * map.row_bytes + map.columns * size_of(map.type));
}

}  // namespace

TEST_CASE("of a packed operand whole tiles are brought, what lies beyond its lines as well, and no more than the workspace has") {
    const Maps packed = maps_of("100x300x90", ",pack_ab=3");
    CHECK(packed.a.columns == 128);
    CHECK(packed.b.columns == 384);
    CHECK(packed.a.row_bytes == 100 * 4);
    CHECK(packed.b.row_bytes == 300 * 4);
    // Lines past K are not: their place is to be zeros.
    CHECK(packed.a.rows == 90);
    CHECK(packed.b.rows == 90);
    CHECK(end_of(packed.a) <= kWorkspace + static_cast<std::uintptr_t>(packed.workspace_bytes));
    CHECK(end_of(packed.b) <= kWorkspace + static_cast<std::uintptr_t>(packed.workspace_bytes));
}

TEST_CASE("of an operand as the caller has it no more is brought than there is") {
    const Maps half = maps_of("100x300x90", ",pack_ab=1");
    CHECK(half.a.columns == 128);
    CHECK(half.b.columns == 300);
    CHECK(half.b.row_bytes == 300 * 4);
    const Maps turned = maps_of("100x300x90 ops=tn", "");
    CHECK(turned.a.columns == 100);
    CHECK(turned.b.columns == 300);
}
