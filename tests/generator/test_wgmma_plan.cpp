// Tests the arguments of the steps of a wgmma plan: tensor maps, grids, the workspace's parts, and what the pad step leaves there.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "generator/choice/validity.h"
#include "generator/families/family.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/emulation/host_device.h"
#include "tests/support/plan_testing.h"
#include "tmm/families/wgmma/rules.h"

using namespace tmm;

namespace {

const std::string kTile = "family=wgmma,block_m=128,block_n=192,block_k=128,stages=2,vector_width=8,boundary=hardware,warps_m=2";

// Pointers that are told apart and never followed.
std::byte* pointer(std::uintptr_t value) {
    return reinterpret_cast<std::byte*>(value);
}
const GemmCall kCall{.a = pointer(0x100000000), .b = pointer(0x200000000), .c = pointer(0x300000000), .workspace = pointer(0x400000000)};

struct Bound {
    LaunchPlan plan;
    const LaunchStep* main = nullptr;
    WgmmaArgs args;
    TensorMapRequests maps;
};

Bound bound(const GemmProblem& problem, const KernelConfig& config, const GemmCall& call = kCall,
            const DeviceInfo& device = assumed_device("90")) {
    CHECK(why_invalid(problem, config, device).value_or("") == "");
    Bound result{.plan = make_launch_plan(problem, config, device), .main = nullptr, .args = {}, .maps = {}};
    for (const LaunchStep& step : result.plan.steps) {
        CHECK((step.tensor_maps != nullptr) == is_of_family(step, family::wgmma));
        if (is_of_family(step, family::wgmma)) result.main = &step;
    }
    REQUIRE(result.main);
    alignas(64) std::byte arguments[kMaxArgumentBytes];
    REQUIRE(result.main->bind(result.plan, *result.main, call, arguments) == sizeof result.args);
    std::memcpy(&result.args, arguments, sizeof result.args);
    result.maps = result.main->tensor_maps(*result.main, arguments);
    return result;
}

// The request for the kernel's left or right operand.
const TensorMapRequest& request(const Bound& bound, bool left) {
    const auto offset = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(left ? &bound.args.left : &bound.args.right) -
                                                 reinterpret_cast<const std::byte*>(&bound.args));
    const auto* const found =
        std::find_if(bound.maps.begin(), bound.maps.end(), [&](const TensorMapRequest& one) { return one.offset == offset; });
    REQUIRE(found != bound.maps.end());
    return *found;
}

// Checks the limits that the hardware sets for every tensor map.
void check_limits(const TensorMapRequest& map) {
    CHECK(reinterpret_cast<std::uintptr_t>(map.address) % 16 == 0);
    CHECK(map.row_bytes % 16 == 0);
    CHECK(map.matrix_bytes % 16 == 0);
    CHECK(map.row_bytes >= map.columns * size_of(map.type));
    CHECK(map.matrices >= 1);
    CHECK(map.box_rows >= 1);
    CHECK(map.box_rows <= 256);
    const int row = map.box_columns * size_of(map.type);
    CHECK(row % 16 == 0);
    CHECK(row <= 128);
}

GemmProblem with_ops(std::string shape, const char* ops) {
    return parse_shape(shape + " dtype=bf16 ops=" + ops).problem;
}

constexpr const char* kOps[] = {"nn", "nt", "tn", "tt"};

}  // namespace

TEST_CASE("operands that many blocks bring are told apart from those that come from memory once") {
    for (const int swap : {0, 1}) {
        CAPTURE(swap);
        const KernelConfig config =
            parse_config("family=wgmma,block_m=128,block_n=32,block_k=64,stages=4,vector_width=8,boundary=hardware" +
                         std::string(swap ? ",swap_ab=1" : ""));
        // The long side is 32 tiles of the left operand, which one tile of the right one meets.
        const GemmProblem problem = with_ops(swap ? "32x4096x512" : "4096x32x512", "nt");
        const Bound plan = bound(problem, config);
        CHECK_FALSE(request(plan, true).reused);
        CHECK(request(plan, false).reused);
        // A cluster copies the right operand's tile once for its thread blocks.
        KernelConfig sharing = config;
        sharing.multicast_b = 4;
        const Bound shared = bound(problem, sharing);
        CHECK_FALSE(request(shared, false).reused);
    }
}

TEST_CASE("TMA is told each matrix as it is stored, in boxes of a slab's rows") {
    // Rows of a box: 128 of the left tile or 192 of the right one where rows run along K, else 128 of K.
    for (const char* ops : kOps) {
        for (const int swap : {0, 1}) {
            CAPTURE(ops);
            CAPTURE(swap);
            GemmProblem problem = with_ops("200x328x456", ops);
            problem.lda = stored_columns_a(problem) + 8;
            problem.ldb = stored_columns_b(problem) + 24;
            const Bound plan = bound(problem, parse_config(kTile + (swap ? ",swap_ab=1" : "")));
            REQUIRE(plan.maps.count == 3);
            const TensorMapRequest& a = request(plan, swap == 0);
            const TensorMapRequest& b = request(plan, swap == 1);
            CHECK(a.box_columns == 64);
            CHECK(b.box_columns == 64);
            CHECK(a.address == kCall.a);
            CHECK(b.address == kCall.b);
            CHECK(a.type == ElementType::bf16);
            CHECK(b.type == ElementType::bf16);
            CHECK(a.rows == stored_rows_a(problem));
            CHECK(a.columns == stored_columns_a(problem));
            CHECK(b.rows == stored_rows_b(problem));
            CHECK(b.columns == stored_columns_b(problem));
            CHECK(a.row_bytes == problem.lda * 2);
            CHECK(b.row_bytes == problem.ldb * 2);
            CHECK(a.matrices == 1);
            CHECK(b.matrices == 1);
            CHECK(a.box_rows == (ops[0] == 't' ? 128 : swap ? 192 : 128));
            CHECK(b.box_rows == (ops[1] == 'n' ? 128 : swap ? 128 : 192));
            check_limits(a);
            check_limits(b);
            CHECK(plan.args.m == 200);
            CHECK(plan.args.n == 328);
            CHECK(plan.args.k == 456);
            CHECK(plan.args.c == kCall.c);
        }
    }
}

TEST_CASE("a batch is a third dimension, a matrix that all share is one") {
    for (const char* ops : kOps) {
        for (const char* changes : {"", ",swap_ab=1"}) {
            CAPTURE(ops);
            CAPTURE(changes);
            GemmProblem problem = with_ops("256x192x128 batch=5", ops);
            problem.stride_a += 64;
            const Bound all = bound(problem, parse_config(kTile + changes));
            const bool swap = *changes != '\0';
            CHECK(request(all, !swap).matrices == 5);
            CHECK(request(all, !swap).matrix_bytes == (256 * 128 + 64) * 2);
            CHECK(request(all, swap).matrices == 5);
            CHECK(request(all, swap).matrix_bytes == 192 * 128 * 2);

            problem.stride_b = 0;
            const Bound shared = bound(problem, parse_config(kTile + changes));
            CHECK(request(shared, !swap).matrices == 5);
            CHECK(request(shared, swap).matrices == 1);
            check_limits(request(shared, swap));
            // With this stride the kernel asks for the first, and only, matrix of B.
            CHECK(shared.args.stride_b == 0);
            CHECK(shared.args.stride_a == 256 * 128 + 64);
            CHECK(shared.args.stride_c == 256 * 192);
        }
    }
}

TEST_CASE("blocks that load a tile together ask for a share of its rows") {
    for (const char* ops : kOps) {
        CAPTURE(ops);
        const GemmProblem problem = with_ops("2048x2048x512", ops);
        const Bound along_n = bound(problem, parse_config(kTile + ",multicast_a=2"));
        CHECK(request(along_n, true).box_rows == 128 / 2);
        CHECK(request(along_n, false).box_rows == (ops[1] == 't' ? 192 : 128));
        CHECK(along_n.main->cluster == 2);
        const Bound along_m = bound(problem, parse_config(kTile + ",multicast_b=4"));
        CHECK(request(along_m, true).box_rows == 128);
        CHECK(request(along_m, false).box_rows == (ops[1] == 't' ? 192 : 128) / 4);
        CHECK(along_m.main->cluster == 4);
        // Swapped, B is the left operand, which neighbours along M share.
        const Bound swapped = bound(problem, parse_config(kTile + ",swap_ab=1,multicast_a=2"));
        CHECK(request(swapped, true).address == kCall.b);
        CHECK(request(swapped, true).box_rows == 128 / 2);
        CHECK(request(swapped, false).box_rows == (ops[0] == 'n' ? 192 : 128));
        const Bound swapped_right = bound(problem, parse_config(kTile + ",swap_ab=1,multicast_b=4"));
        CHECK(request(swapped_right, true).box_rows == 128);
        CHECK(request(swapped_right, false).box_rows == (ops[0] == 'n' ? 192 : 128) / 4);
    }
}

TEST_CASE("with boundary mode peeled an operand's last rows along K have boxes of their own, as high as they are") {
    struct Expected {
        const char* shape;
        const char* changes;
        // Rows of the boxes of the kernel's left and right operand; 0: no such map.
        int left_rows;
        int right_rows;
    };
    for (const auto& [shape, changes, left_rows, right_rows] : {
             Expected{"200x328x456 ops=nt", "", 72, 136},
             Expected{"256x328x456 ops=nt", "", 0, 136},
             Expected{"200x328x456 ops=nt", ",swap_ab=1", 72, 8},
             // A tile that thread blocks share is copied whole.
             Expected{"200x328x456 ops=nt", ",multicast_b=2", 72, 0},
             Expected{"50x328x456 ops=nt", ",multicast_a=2", 0, 136},
             Expected{"200x328x456 ops=nn", "", 72, 0},
             Expected{"200x328x456 ops=tt", "", 0, 136},
             Expected{"200x328x456 ops=tn", "", 0, 0},
         }) {
        CAPTURE(shape);
        CAPTURE(changes);
        const GemmProblem problem = parse_shape(std::string(shape) + " dtype=bf16").problem;
        for (const int mode : {boundary::hardware, boundary::peeled}) {
            KernelConfig config = parse_config(kTile + changes);
            config.boundary = mode;
            const Bound plan = bound(problem, config);
            const auto map_of = [&](const TensorMap& map) {
                const auto offset = reinterpret_cast<const std::byte*>(&map) - reinterpret_cast<const std::byte*>(&plan.args);
                return std::find_if(plan.maps.begin(), plan.maps.end(),
                                    [&](const TensorMapRequest& one) { return one.offset == static_cast<std::size_t>(offset); });
            };
            const auto check_edge = [&](const TensorMap& edge, const TensorMap& whole, int rows) {
                if (mode == boundary::hardware || rows == 0) {
                    CHECK(map_of(edge) == plan.maps.end());
                    return;
                }
                REQUIRE(map_of(edge) != plan.maps.end());
                TensorMapRequest request = *map_of(edge);
                check_limits(request);
                CHECK(request.box_rows == rows);
                CHECK(request.address == map_of(whole)->address);
                CHECK(request.rows == map_of(whole)->rows);
                CHECK(request.box_columns == map_of(whole)->box_columns);
            };
            check_edge(plan.args.left_edge, plan.args.left, left_rows);
            check_edge(plan.args.right_edge, plan.args.right, right_rows);
        }
    }
}

TEST_CASE("TMA is told whole chunks of C's rows, where they are aligned") {
    struct Expected {
        const char* shape;
        std::string config;
        i64 columns;
        int box_rows;
        int box_columns;
        // Rows and columns of the last box of a row of boxes, where they differ.
        int rest_rows = 0;
        int rest_columns = 0;
    };
    const std::string narrow = "family=wgmma,block_m=128,block_k=64,stages=2,vector_width=8,boundary=hardware";
    for (const auto& [shape, config, columns, box_rows, box_columns, rest_rows, rest_columns] : {
             Expected{"200x328x64 dtype=bf16", kTile, 328, 16, 64},
             Expected{"200x328x64 dtype=f16 batch=3", narrow + ",block_n=128,ping_pong=1", 328, 16, 64},
             // C ends within a chunk, and in the first one.
             Expected{"200x333x64 dtype=bf16 ldb=336 ldc=336", kTile, 328, 16, 64},
             Expected{"200x3x64 dtype=bf16 ldb=8 ldc=8", kTile, 8, 16, 64},
             Expected{"200x328x64 dtype=bf16 ctype=f32", kTile, 328, 16, 32},
             Expected{"200x331x64 dtype=bf16 ctype=f32 ldb=336 ldc=332", kTile, 328, 16, 32},
             Expected{"200x328x64 dtype=bf16 ops=nt", narrow + ",block_n=176", 328, 16, 64, 16, 48},
             // The boxes are as wide as the stages leave room for.
             Expected{"200x328x64 dtype=bf16 ops=nt",
                      "family=wgmma,block_m=128,block_n=112,block_k=64,stages=7,vector_width=8,boundary=hardware,warps_m=2", 328, 16, 32,
                      16, 16},
             Expected{"200x328x64 dtype=bf16 ops=nt", narrow + ",block_n=40", 328, 16, 40},
             // Swapped, 16 of a warp's sums make a row of C.
             Expected{"200x328x64 dtype=bf16", kTile + ",swap_ab=1", 328, 64, 16},
             Expected{"200x328x64 dtype=bf16", narrow + ",block_n=88,swap_ab=1", 328, 64, 16, 24, 16},
         }) {
        CAPTURE(shape);
        CAPTURE(config);
        const GemmProblem problem = parse_shape(shape).problem;
        const Bound plan = bound(problem, parse_config(config));
        const auto place_of = [&](const TensorMap& map) {
            return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&map) - reinterpret_cast<const std::byte*>(&plan.args));
        };
        REQUIRE(plan.maps.count == (rest_rows > 0 ? 4 : 3));
        for (int box = 0; box < plan.maps.count - 2; ++box) {
            const TensorMapRequest& c = plan.maps.requests[static_cast<std::size_t>(box)];
            CHECK(c.offset == place_of(box == 0 ? plan.args.result : plan.args.result_rest));
            check_limits(c);
            CHECK(c.address == kCall.c);
            CHECK(c.type == problem.type_c);
            CHECK(c.rows == 200);
            CHECK(c.columns == columns);
            CHECK(c.matrices == problem.batch);
            CHECK(c.row_bytes == problem.ldc * size_of(problem.type_c));
            CHECK(c.matrix_bytes == (problem.batch > 1 ? problem.stride_c : problem.ldc) * size_of(problem.type_c));
            CHECK(c.box_rows == (box == 0 ? box_rows : rest_rows));
            CHECK(c.box_columns == (box == 0 ? box_columns : rest_columns));
        }
    }
    // Unaligned rows, and parts of sums.
    CHECK(bound(parse_shape("200x333x64 dtype=bf16 ldb=336").problem, parse_config(kTile)).maps.count == 2);
    CHECK(bound(parse_shape("200x333x64 dtype=bf16 ldb=336 beta=1").problem, parse_config(kTile)).maps.count == 2);
    for (const char* changes : {",split_k=2", ",split_k=2,cluster=2"})
        CHECK(bound(parse_shape("200x328x640 dtype=bf16").problem, parse_config(kTile + changes)).maps.count == 2);
}

TEST_CASE("of C that is read TMA brings all that a row has") {
    // First all boxes are alike, then the last one of a row is narrower.
    for (const char* columns : {"128", "176"}) {
        CAPTURE(columns);
        const Bound plan = bound(parse_shape("200x333x64 dtype=bf16 ops=nt ldc=336 beta=1").problem,
                                 parse_config(std::string("family=wgmma,block_m=128,block_k=64,stages=2,vector_width=8,boundary=hardware,"
                                                          "block_n=") +
                                              columns));
        const auto place_of = [&](const TensorMap& map) {
            return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&map) - reinterpret_cast<const std::byte*>(&plan.args));
        };
        const std::size_t boxes = std::string(columns) == "176" ? 2 : 1;
        REQUIRE(static_cast<std::size_t>(plan.maps.count) == 2 * boxes + 2);
        for (std::size_t box = 0; box < boxes; ++box) {
            const TensorMapRequest& result = plan.maps.requests[box];
            const TensorMapRequest& before = plan.maps.requests[boxes + box];
            CHECK(before.offset == place_of(box == 0 ? plan.args.before : plan.args.before_rest));
            CHECK(before.columns == 333);
            check_limits(before);
            CHECK(result.columns == 328);
            CHECK(before.address == result.address);
            CHECK(before.rows == result.rows);
            CHECK(before.row_bytes == result.row_bytes);
            CHECK(before.box_rows == result.box_rows);
            CHECK(before.box_columns == result.box_columns);
        }
    }
}

TEST_CASE("with compute=tf32 TMA rounds both operands to TF32, and nothing else that it brings") {
    for (const char* added : {"", " beta=1", " epilogue=residual", " epilogue=bias+residual"}) {
        for (const char* compute : {" compute=tf32", " dtype=bf16"}) {
            CAPTURE(std::string(added));
            CAPTURE(std::string(compute));
            const GemmProblem problem = parse_shape(std::string("200x200x64 ops=nt align=16") + compute + added).problem;
            for (const char* boundary : {"hardware", "peeled"}) {
                const KernelConfig config =
                    parse_config(std::string("family=wgmma,block_m=64,block_n=64,block_k=64,stages=2,vector_width=8,boundary=") + boundary);
                const Bound found = bound(problem, config);
                int operands = 0;
                for (const TensorMapRequest& map : found.maps) {
                    const bool is_operand = map.address == kCall.a || map.address == kCall.b;
                    CHECK(map.rounds_to_tf32 == (is_operand && problem.compute == ComputeMode::tf32));
                    operands += is_operand ? 1 : 0;
                }
                CHECK(operands == (boundary == std::string("peeled") ? 4 : 2));
                CHECK(found.maps.count > operands);
            }
        }
    }
}

TEST_CASE("a call that reads no operands needs no maps of them") {
    for (const char* changes : {"", ",pack_ab=3", ",swap_ab=1", ",split_k=2"}) {
        CAPTURE(changes);
        GemmProblem problem = with_ops("128x192x256", "nn");
        const int of_results = std::string(changes).find("split") == std::string::npos ? 1 : 0;
        CHECK(bound(problem, parse_config(kTile + changes)).maps.count == 2 + of_results);
        const Bound scaled = bound(problem, parse_config(kTile + changes), {.c = kCall.c, .workspace = kCall.workspace, .alpha = 0});
        CHECK(scaled.maps.count == of_results);
        CHECK(scaled.args.k == 0);
        CHECK(scaled.args.alpha == 0);
        problem.k = 0;
        if (std::string(changes).find("split") != std::string::npos) continue;
        const Bound empty = bound(problem, parse_config(kTile + changes));
        CHECK(empty.maps.count == of_results);
        CHECK(empty.args.k == 0);
    }
}

TEST_CASE("a padded operand is brought from where the pad step leaves it") {
    for (const char* ops : kOps) {
        for (const int pack_ab : {1, 2, 3}) {
            for (const char* changes : {"", ",swap_ab=1", ",multicast_a=2", ",split_k=3", ",split_k=4,cluster=2"}) {
                CAPTURE(ops);
                CAPTURE(pack_ab);
                CAPTURE(changes);
                GemmProblem problem = with_ops("203x331x457 batch=3", ops);
                // An operand that is not padded is right for TMA.
                if (pack_ab == 1) problem.ldb = (problem.ldb + 7) / 8 * 8, problem.stride_b = stored_rows_b(problem) * problem.ldb;
                if (pack_ab == 2) problem.lda = (problem.lda + 7) / 8 * 8, problem.stride_a = stored_rows_a(problem) * problem.lda;
                const bool swap = std::string(changes) == ",swap_ab=1";
                const Bound plan = bound(problem, parse_config(kTile + changes + fmt::format(",pack_ab={}", pack_ab)));
                const Pad* const pad = std::get_if<Pad>(&plan.plan.steps.front().kernel);
                REQUIRE(pad);
                CHECK(*pad == Pad{.a = (pack_ab & 1) != 0, .b = (pack_ab & 2) != 0});
                // Rows of 512 bytes and more are whole lines of 128 bytes, shorter ones multiples of 16.
                const auto rounded = [](i64 columns) { return columns < 256 ? (columns + 7) / 8 * 8 : (columns + 63) / 64 * 64; };
                const i64 rounded_a = rounded(stored_columns_a(problem));
                const i64 rounded_b = rounded(stored_columns_b(problem));
                const TensorMapRequest& a = request(plan, !swap);
                const TensorMapRequest& b = request(plan, swap);
                check_limits(a);
                check_limits(b);
                // Along K what pads a row must count as zeros.
                const bool all_of_a = (pack_ab & 1) != 0 && problem.op_a == Operation::transpose;
                const bool all_of_b = (pack_ab & 2) != 0 && problem.op_b == Operation::none;
                CHECK(a.rows == stored_rows_a(problem));
                CHECK(a.columns == (all_of_a ? rounded_a : stored_columns_a(problem)));
                CHECK(b.rows == stored_rows_b(problem));
                CHECK(b.columns == (all_of_b ? rounded_b : stored_columns_b(problem)));
                CHECK(a.row_bytes == (pack_ab & 1 ? rounded_a : problem.lda) * 2);
                CHECK(b.row_bytes == (pack_ab & 2 ? rounded_b : problem.ldb) * 2);
                CHECK(a.matrices == 3);
                CHECK(b.matrices == 3);
                CHECK(a.matrix_bytes == stored_rows_a(problem) * a.row_bytes);
                CHECK(b.matrix_bytes == stored_rows_b(problem) * b.row_bytes);

                // The workspace's parts: none begins before the one in front of it has ended.
                i64 end = 0;
                const auto take = [&](const void* part, i64 bytes) {
                    const i64 offset = static_cast<const std::byte*>(part) - static_cast<const std::byte*>(kCall.workspace);
                    CHECK(offset >= end);
                    CHECK(offset % 256 == 0);
                    end = offset + bytes;
                };
                if (pack_ab & 1) take(a.address, 3 * a.matrix_bytes);
                if (pack_ab & 2) take(b.address, 3 * b.matrix_bytes);
                if (!(pack_ab & 1)) CHECK(a.address == kCall.a);
                if (!(pack_ab & 2)) CHECK(b.address == kCall.b);
                if (const int parts = partial_results(plan.plan.config); parts > 1) {
                    take(plan.args.workspace, i64{4} * 3 * parts * problem.m * workspace_ld(problem.n));
                    const LaunchStep& sum = plan.plan.steps.back();
                    REQUIRE(name_of(sum) == "reduce");
                    alignas(64) std::byte arguments[kMaxArgumentBytes];
                    sum.bind(plan.plan, sum, kCall, arguments);
                    GemmArgs reduce;
                    std::memcpy(&reduce, arguments, sizeof reduce);
                    CHECK(reduce.workspace == plan.args.workspace);
                    CHECK(reduce.split_k == parts);
                }
                CHECK(end <= plan.plan.workspace_bytes);
                CHECK(plan.plan.workspace_bytes - end < 256);
            }
        }
    }
}

TEST_CASE("a grid is whole clusters, and no more of them than the SMs hold") {
    const DeviceInfo device = assumed_device("90");
    struct Expected {
        const char* shape;
        const char* changes;
        i64 grid;
    };
    for (const auto& [shape, changes, grid] : {
             Expected{"128x192x64", "", 1},
             Expected{"1280x1920x64", "", 100},
             Expected{"1281x1920x64 lda=64", "", 110},
             Expected{"1280x1920x64 batch=2", "", 132},
             Expected{"1280x1920x64 batch=2", ",min_blocks=1", 132},
             // An odd tile beside the last whole cluster is a block of its own that has nothing to store.
             Expected{"128x192x64", ",multicast_a=2", 2},
             Expected{"640x576x64", ",multicast_b=4", 24},
             Expected{"4096x4096x64", ",multicast_a=2", 132},
             Expected{"4096x4096x64", ",multicast_b=4", 132},
             // Swapped, 11 tiles of 128 columns, of which as many as a cluster shares their rows, by 4 of 192 rows.
             Expected{"704x1304x64", ",swap_ab=1,multicast_a=2", 44},
             Expected{"704x1304x64", ",swap_ab=1,multicast_b=2", 48},
             Expected{"128x192x4096", ",split_k=6", 6},
             Expected{"12800x192x4096", ",split_k=2", 132},
             // Clusters that sum parts of K have a tile each.
             Expected{"128x192x4096", ",split_k=8,cluster=8", 8},
             Expected{"4096x192x4096", ",split_k=16,cluster=8", 512},
         }) {
        CAPTURE(shape);
        CAPTURE(changes);
        const KernelConfig config = parse_config(kTile + changes);
        const Bound plan = bound(parse_shape(std::string(shape) + " dtype=bf16").problem, config);
        CHECK(plan.main->grid == grid);
        CHECK(plan.main->grid % plan.main->cluster == 0);
        CHECK(plan.main->cluster == wgmma::cluster_size(config));
        CHECK(plan.main->threads == 3 * 128);
    }
    // SMs that are no multiple of the cluster, and fewer than one.
    DeviceInfo odd = device;
    odd.sm_count = 131;
    const GemmProblem problem = with_ops("4096x4096x64", "nn");
    CHECK(bound(problem, parse_config(kTile + ",multicast_a=2"), kCall, odd).main->grid == 130);
    CHECK(bound(problem, parse_config(kTile + ",multicast_a=4"), kCall, odd).main->grid == 128);
    odd.sm_count = 1;
    CHECK(bound(problem, parse_config(kTile + ",multicast_a=4"), kCall, odd).main->grid == 4);
    const Bound small = bound(
        problem, parse_config("family=wgmma,block_m=64,block_n=64,block_k=64,stages=4,vector_width=8,boundary=hardware,min_blocks=2"));
    CHECK(small.main->grid == 2 * 132);
}

TEST_CASE("the pad step leaves every row where the product's step looks for it, and changes nothing else") {
    const auto device = make_host_device("shuffled:3");
    const auto compiler = make_host_compiler();
    std::mt19937 random(7);
    // Rows of one to 32 chunks of 16 bytes, which several of a warp's lanes or warps share; of a warp's few steps; and of two warps.
    for (const char* ops : kOps) {
        for (const int pack_ab : {1, 2, 3}) {
            for (const auto& [size, batch] :
                 {std::pair{"5x263x517", 1}, {"5x263x517", 3}, {"37x131x100", 3}, {"3x19x1301", 1}, {"3x256x1280", 1}, {"2x1x204900", 1}}) {
                GemmProblem problem = with_ops(size, ops);
                problem.alignment = 2;
                problem.batch = batch;
                CAPTURE(size);
                problem.lda = stored_columns_a(problem) + 2;
                problem.ldb = stored_columns_b(problem) + 1;
                problem.stride_a = batch > 1 ? stored_rows_a(problem) * problem.lda + 5 : 0;
                problem.stride_b = batch > 1 ? stored_rows_b(problem) * problem.ldb + 3 : 0;
                if (batch > 1 && pack_ab == 3) problem.stride_b = 0;
                problem.stride_c = batch > 1 ? problem.m * problem.ldc : 0;
                if (pack_ab == 1) {
                    problem.alignment = 16;
                    problem.ldb = (problem.ldb + 7) / 8 * 8;
                    problem.stride_b = batch > 1 ? stored_rows_b(problem) * problem.ldb : 0;
                } else if (pack_ab == 2) {
                    problem.alignment = 16;
                    problem.lda = (problem.lda + 7) / 8 * 8;
                    problem.stride_a = batch > 1 ? stored_rows_a(problem) * problem.lda : 0;
                }
                CAPTURE(ops);
                CAPTURE(pack_ab);
                CAPTURE(batch);
                const KernelConfig config = parse_config(kTile + fmt::format(",pack_ab={},split_k=2", pack_ab));
                const LaunchPlan plan = make_launch_plan(problem, config, assumed_device("90"));
                CHECK(why_invalid(problem, config, assumed_device("90")).value_or("") == "");

                // The matrix starts two bytes past a multiple of 16 where nothing better is promised.
                const std::size_t base = problem.alignment == 2 ? 1 : 0;
                const auto filled = [&](i64 rows, i64 ld, i64 stride) {
                    std::vector<std::uint16_t> values(static_cast<std::size_t>((batch - 1) * stride + rows * ld) + base);
                    for (std::uint16_t& value : values) value = static_cast<std::uint16_t>(random());
                    return values;
                };
                const std::vector<std::uint16_t> a = filled(stored_rows_a(problem), problem.lda, problem.stride_a);
                const std::vector<std::uint16_t> b = filled(stored_rows_b(problem), problem.ldb, problem.stride_b);
                const auto on_device = [&](const std::vector<std::uint16_t>& values) {
                    DeviceBuffer buffer(device, values.size() * 2);
                    device->copy_to_device(buffer.data(), values.data(), buffer.bytes());
                    return buffer;
                };
                const DeviceBuffer device_a = on_device(a);
                const DeviceBuffer device_b = on_device(b);
                const auto bytes = static_cast<std::size_t>(plan.workspace_bytes);
                std::vector<std::uint16_t> poison((bytes + 256) / 2);
                for (std::uint16_t& value : poison) value = static_cast<std::uint16_t>(random());

                const LaunchStep& pad = plan.steps.front();
                REQUIRE(name_of(pad) == "pad");
                const KernelSource source = make_kernel_source(pad.signature, pad.kernel);
                const CompileResult compiled = compiler->compile(source);
                if (const auto* failure = std::get_if<CompileFailure>(&compiled)) FAIL(failure->log);
                const auto kernel = device->load(std::get<CompiledKernel>(compiled), source.name);
                for (const double alpha : {1.0, 0.0}) {
                    const DeviceBuffer workspace = on_device(poison);
                    const GemmCall call{.a = alpha == 0 ? nullptr : static_cast<std::uint16_t*>(device_a.data()) + base,
                                        .b = alpha == 0 ? nullptr : static_cast<std::uint16_t*>(device_b.data()) + base,
                                        .workspace = workspace.data(),
                                        .alpha = alpha};
                    alignas(64) std::byte arguments[kMaxArgumentBytes];
                    const std::size_t argument_bytes = pad.bind(plan, pad, call, arguments);
                    device->launch(*kernel, {.grid = pad.grid, .threads = pad.threads}, arguments, argument_bytes, nullptr);

                    const auto content = [&](const DeviceBuffer& buffer) {
                        std::vector<std::uint16_t> values(buffer.bytes() / 2);
                        device->copy_to_host(values.data(), buffer.data(), buffer.bytes());
                        return values;
                    };
                    std::vector<std::uint16_t> expected = poison;
                    const std::vector<std::uint16_t> found = content(workspace);
                    const LaunchStep& main = plan.steps[1];
                    main.bind(plan, main, call, arguments);
                    WgmmaArgs args;
                    std::memcpy(&args, arguments, sizeof args);
                    const auto place = [&](const std::vector<std::uint16_t>& values, i64 rows, i64 columns, i64 ld, i64 stride,
                                           const void* to, i64 to_ld, i64 to_stride) {
                        const auto first = (static_cast<const std::byte*>(to) - static_cast<const std::byte*>(workspace.data())) / 2;
                        for (i64 member = 0; member < batch; ++member)
                            for (i64 row = 0; row < rows; ++row)
                                for (i64 column = 0; column < to_ld; ++column) {
                                    const auto at = static_cast<std::size_t>(first + member * to_stride + row * to_ld + column);
                                    // The padding of a row may hold anything.
                                    expected.at(at) = column < columns
                                                          ? values.at(base + static_cast<std::size_t>(member * stride + row * ld + column))
                                                          : found.at(at);
                                }
                    };
                    if (alpha != 0 && (pack_ab & 1))
                        place(a, stored_rows_a(problem), stored_columns_a(problem), problem.lda, problem.stride_a, args.a, args.lda,
                              args.stride_a);
                    if (alpha != 0 && (pack_ab & 2))
                        place(b, stored_rows_b(problem), stored_columns_b(problem), problem.ldb, problem.stride_b, args.b, args.ldb,
                              args.stride_b);
                    CHECK(found == expected);
                    CHECK(content(device_a) == a);
                    CHECK(content(device_b) == b);
                }
            }
        }
    }
}
