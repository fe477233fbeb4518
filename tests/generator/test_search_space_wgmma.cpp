// Tests when a problem is offered kernels of family wgmma, which ones, and why others are refused.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/search_space.h"
#include "generator/choice/validity.h"
#include "generator/families/family.h"
#include "generator/families/product_problem.h"
#include "generator/families/wgmma/wgmma.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/plan_testing.h"
#include "tmm/families/wgmma/rules.h"

using namespace tmm;

namespace {

std::vector<KernelConfig> wgmma_of(const SearchSpace& space) {
    std::vector<KernelConfig> found;
    std::copy_if(space.candidates.begin(), space.candidates.end(), std::back_inserter(found),
                 [](const KernelConfig& c) { return c.family == family::wgmma; });
    return found;
}

bool is_right_for_tma(const GemmProblem& problem) {
    const KernelSignature signature = signature_of(problem);
    return signature.align_a == 16 && signature.align_b == 16;
}

}  // namespace

TEST_CASE("16-bit problems are offered wgmma, which leads where TMA takes the operands as they are, each config valid and once") {
    const DeviceInfo device = assumed_device("90");
    for (const char* text :
         {"2048x2048x2048 dtype=bf16", "4096x512x4096 dtype=f16 ops=nt", "1024x4096x512 dtype=bf16 ctype=f32 ops=tn beta=1",
          "333x777x555 dtype=bf16", "300x200x100 dtype=f16 ops=tt", "256x256x256 batch=8 dtype=bf16", "64x64x65536 dtype=bf16",
          "1023x1023x1023 dtype=bf16", "512x512x512 batch=3 dtype=f16 align=2"}) {
        CAPTURE(text);
        const GemmProblem problem = parse_shape(text).problem;
        for (const Effort effort : {Effort::quick, Effort::normal}) {
            const SearchSpace space = search_space(problem, device, effort);
            const std::vector<KernelConfig> found = wgmma_of(space);
            CHECK(found.size() >= (effort == Effort::quick ? 4 : 24));
            if (is_right_for_tma(problem)) CHECK(space.candidates.front().family == family::wgmma);
            CHECK(space.candidates.front() == default_config(problem, device));
            std::set<std::string> names;
            for (const KernelConfig& config : found) {
                const std::string name = to_text(config);
                CAPTURE(name);
                CHECK(why_invalid(problem, config, device).value_or("") == "");
                CHECK(names.insert(name).second);
                CHECK((config.pack_ab == 0) == is_right_for_tma(problem));
                CHECK(make_launch_plan(problem, config, device).workspace_bytes <= std::int64_t{1} << 30);
            }
        }
    }
    // The other tensor-core family is tried beside it.
    const SearchSpace space = search_space(parse_shape("2048x2048x2048 dtype=bf16").problem, device, Effort::full);
    CHECK(std::any_of(space.candidates.begin(), space.candidates.end(), [](const KernelConfig& c) { return c.family == family::mma; }));
}

TEST_CASE("the operands whose rows TMA can't bring are padded, and no others") {
    const DeviceInfo device = assumed_device("90");
    struct Expected {
        const char* shape;
        int pack_ab;
    };
    for (const auto& [text, pack_ab] :
         {Expected{"512x512x512 dtype=bf16", 0}, Expected{"511x512x512 dtype=bf16", 0}, Expected{"512x512x511 dtype=bf16", 1},
          Expected{"512x511x512 dtype=bf16", 2}, Expected{"512x511x511 dtype=f16", 3}, Expected{"511x512x512 dtype=f16 ops=tn", 1},
          Expected{"512x512x511 dtype=f16 ops=nt", 3}, Expected{"512x511x512 dtype=bf16 ops=nt", 0},
          Expected{"512x512x511 dtype=bf16 ops=tn", 0}, Expected{"512x512x512 dtype=bf16 lda=516", 1},
          Expected{"512x512x512 dtype=bf16 ldb=520", 0}, Expected{"512x512x512 dtype=bf16 align=8", 3},
          Expected{"512x512x512 dtype=bf16 ldc=513", 0}}) {
        CAPTURE(text);
        const std::vector<KernelConfig> found = wgmma_of(search_space(parse_shape(text).problem, device, Effort::normal));
        CHECK(found.size() >= 24);
        CHECK(std::all_of(found.begin(), found.end(), [&, wanted = pack_ab](const KernelConfig& c) { return c.pack_ab == wanted; }));
    }
    // Matrices of a batch that do not start at multiples of 16 bytes.
    GemmProblem problem = parse_shape("128x128x128 batch=4 dtype=bf16").problem;
    problem.stride_b += 4;
    for (const KernelConfig& config : wgmma_of(search_space(problem, device, Effort::quick))) CHECK(config.pack_ab == 2);
    // Unpadded it is refused, by name.
    KernelConfig plain = wgmma_of(search_space(problem, device, Effort::quick)).at(0);
    plain.pack_ab = 0;
    CHECK(why_invalid(problem, plain, device).value_or("").find("multiples of 16 bytes") != std::string::npos);
}

TEST_CASE("bytes are multiplied by wgmma in every layout: what lies along M or N is turned, and large products get it untuned") {
    const DeviceInfo device = assumed_device("90");
    struct Expected {
        const char* shape;
        int pack_ab;
    };
    for (const auto& [text, pack_ab] :
         {Expected{"4096x4096x4096 ops=nt", 0}, Expected{"4096x4096x4096", 2}, Expected{"4096x4096x4096 ops=tt", 1},
          Expected{"4096x4096x4096 ops=tn", 3}, Expected{"8192x8192x8192 ops=nt", 0}, Expected{"2048x4000x2040 ops=nt", 3},
          Expected{"2048x4000x2032 ops=nt beta=1 ldc=4001", 0}, Expected{"3000x2999x3008 lda=3009", 3}}) {
        CAPTURE(text);
        const GemmProblem problem = parse_shape(std::string(text) + " dtype=s8").problem;
        CHECK(default_config(problem, device).family == family::wgmma);
        const std::vector<KernelConfig> found = wgmma_of(search_space(problem, device, Effort::normal));
        CHECK(found.size() >= 24);
        for (const KernelConfig& config : found) {
            CAPTURE(to_text(config));
            CHECK(config.pack_ab == pack_ab);
            CHECK(why_invalid(problem, config, device).value_or("") == "");
            const KernelSignature signature = main_signature(problem, config);
            CHECK(wgmma::left_tile(config, signature).along_k);
            CHECK(wgmma::right_tile(config, signature).along_k);
        }
    }
    // What wgmma can't take as it lies says so; other GPUs multiply bytes by mma.
    const GemmProblem problem = parse_shape("512x512x512 dtype=s8").problem;
    KernelConfig plain = wgmma_of(search_space(problem, device, Effort::quick)).at(0);
    plain.pack_ab = 0;
    CHECK(why_invalid(problem, plain, device).value_or("").find("turn an operand whose rows do not (pack_ab)") != std::string::npos);
    CHECK(wgmma_of(search_space(problem, assumed_device("80"), Effort::normal)).empty());
}

TEST_CASE("small products are not worth a padding kernel, large ones are") {
    const DeviceInfo device = assumed_device("90");
    // The measured times are 4.2 and 11.0 us; 34.6 and 9.8 us; 10.2 and 7.4 us.
    CHECK(default_config(parse_shape("100x100x100 batch=64 dtype=bf16").problem, device).family == family::mma);
    CHECK(default_config(parse_shape("1023x1023x1023 dtype=bf16").problem, device).family == family::wgmma);
    CHECK(default_config(parse_shape("333x777x555 dtype=bf16").problem, device).family == family::wgmma);
    CHECK(default_config(parse_shape("64x5x64 dtype=bf16 ops=tn").problem, device).family != family::wgmma);
    // mma stores such results one by one: the times are 64 and 31 us.
    CHECK(default_config(parse_shape("65x65x65 batch=1000 dtype=bf16").problem, device).family == family::wgmma);
}

TEST_CASE("of few columns along N, clusters share what is asked for row by row, and no kernel adds up parts a row to a block") {
    // The measured time is 12.3 us; in 128 pairs of halves of K it is 19.7, with partial sums for a second kernel 17.3.
    const KernelConfig config = default_config(parse_shape("4096x8x4096 dtype=bf16").problem, assumed_device("90"));
    CHECK(config.multicast_b == 4);
    CHECK(config.split_k == 1);
}

TEST_CASE("padding counts as it lies: narrow matrices grow") {
    const DeviceInfo device = assumed_device("90");
    // A's rows of one element become rows of 8: 60 million elements, and close to a gigabyte.
    const GemmProblem narrow = parse_shape("60000000x64x1 dtype=bf16").problem;
    const GemmProblem narrower = parse_shape("70000000x64x1 dtype=bf16").problem;
    KernelConfig config =
        parse_config("family=wgmma,block_m=128,block_n=64,block_k=64,stages=4,vector_width=8,boundary=hardware,warps_m=2,pack_ab=1");
    CHECK(why_invalid(narrow, config, device).value_or("") == "");
    CHECK(make_launch_plan(narrow, config, device).workspace_bytes == 960'000'000);
    CHECK(why_invalid(narrower, config, device).value_or("").find("MiB of workspace") != std::string::npos);
    for (const char* text : {"70000000x64x1 dtype=bf16", "9000000x7x9 dtype=f16 ops=nt", "40000x3x4099 batch=3 dtype=bf16"}) {
        const GemmProblem problem = parse_shape(text).problem;
        CAPTURE(text);
        for (const KernelConfig& candidate : search_space(problem, device, Effort::normal).candidates)
            CHECK(make_launch_plan(problem, candidate, device).workspace_bytes <= std::int64_t{1} << 30);
    }
}

TEST_CASE("few rows of C are columns of the instruction") {
    const DeviceInfo device = assumed_device("90");
    for (const char* text : {"4x4096x14336 dtype=bf16 ops=nt", "16x4096x4096 dtype=bf16 ops=nt", "32x6144x4096 dtype=f16"}) {
        CAPTURE(text);
        const GemmProblem problem = parse_shape(text).problem;
        const KernelConfig best = default_config(problem, device);
        CHECK(best.family == family::wgmma);
        CHECK(best.swap_ab == 1);
        // No instruction has many more columns than there are rows.
        CHECK(best.block_n <= std::max<std::int64_t>(8, 2 * problem.m));
        const std::vector<KernelConfig> found = wgmma_of(search_space(problem, device, Effort::normal));
        CHECK(std::count_if(found.begin(), found.end(), [](const KernelConfig& c) { return c.swap_ab == 1; }) >= 8);
    }
}

TEST_CASE("few columns of C are columns of the instruction, as many of them as a slab has where rows of B run along N") {
    const DeviceInfo device = assumed_device("90");
    for (const char* text :
         {"4096x16x4096 dtype=bf16", "28672x3x8192 dtype=bf16", "11008x32x4096 dtype=f16 ops=tn", "4096x16x4096 dtype=bf16 ops=nt"}) {
        CAPTURE(text);
        const GemmProblem problem = parse_shape(text).problem;
        const bool along_n = problem.op_b == Operation::none;
        CHECK(default_config(problem, device).family == family::wgmma);
        const std::vector<KernelConfig> found = wgmma_of(search_space(problem, device, Effort::normal));
        CHECK(found.size() >= 24);
        for (const KernelConfig& config : found) {
            CHECK(config.swap_ab == 0);
            CHECK(config.block_n <= (along_n ? 64 : 32));
        }
    }
}

TEST_CASE("of many rows, too, tiles are offered that fill the SMs in whole waves, and none in two ways that are alike") {
    const DeviceInfo device = assumed_device("90");
    for (const char* text : {"1536x1536x1536 dtype=bf16", "5120x5120x5120 dtype=f16"}) {
        CAPTURE(text);
        const GemmProblem problem = parse_shape(text).problem;
        const KernelConfig best = default_config(problem, device);
        const i64 blocks = wgmma::blocks(best, problem.m, problem.n, problem.batch);
        CHECK(static_cast<double>(blocks) / (132.0 * std::ceil(static_cast<double>(blocks) / 132.0)) > 0.95);
        for (const KernelConfig& config : wgmma_of(search_space(problem, device, Effort::normal)))
            CHECK((config.swap_ab == 0 || config.block_n % 64 != 0));
    }
}

TEST_CASE("where columns run along N, too, tiles are offered that are no multiple of 64 columns wide") {
    const DeviceInfo device = assumed_device("90");
    const auto offers = [&](const char* text, int block_m, int least, int most) {
        const std::vector<KernelConfig> found = wgmma_of(search_space(parse_shape(text).problem, device, Effort::normal));
        return std::any_of(found.begin(), found.end(), [&](const KernelConfig& c) {
            return c.swap_ab == 0 && c.block_m == block_m && c.block_n >= least && c.block_n <= most && c.block_n % 64 != 0;
        });
    };
    // 920 tiles are 6.97 waves of 132 SMs; 800 tiles of 128 x 256 are 7 longer ones.
    CHECK(offers("5000x5000x5000 dtype=bf16 ops=tn", 128, 224, 224));
    CHECK(offers("400x400x60000 dtype=bf16", 128, 192, 216));
    // Without a search, too: on an H100 it takes 27.6 us, and 34 in tiles of whole slabs.
    const GemmProblem batched = parse_shape("65x65x65 dtype=f16 batch=1000").problem;
    CHECK(default_config(batched, device).block_n == 72);
    // A strip of 8 columns would take a third of the product's time here.
    CHECK(default_config(parse_shape("5000x5000x5000 dtype=bf16 ops=tn").problem, device).trim == 0);
}

TEST_CASE("a row too many is offered to be trimmed, where no operand is padded") {
    const DeviceInfo device = assumed_device("90");
    const auto trimmed_of = [&](const char* text) {
        std::vector<KernelConfig> trimmed = wgmma_of(search_space(parse_shape(text).problem, device, Effort::normal));
        trimmed.erase(std::remove_if(trimmed.begin(), trimmed.end(), [](const KernelConfig& c) { return c.trim == 0; }), trimmed.end());
        return trimmed;
    };
    const std::vector<KernelConfig> trimmed = trimmed_of("1025x1024x1024 dtype=bf16 ops=nt");
    CHECK(!trimmed.empty());
    for (const KernelConfig& config : trimmed) {
        CAPTURE(to_text(config));
        const LaunchPlan plan = make_launch_plan(parse_shape("1025x1024x1024 dtype=bf16 ops=nt").problem, config, device);
        REQUIRE(plan.steps.size() >= 2);
        CHECK(plan.steps[0].extent == Extent{.rows = 1024, .columns = 1024});
        CHECK(is_of_family(plan.steps[1], family::gemv));
        CHECK(plan.steps[1].extent == Extent{.row0 = 1024, .rows = 1, .columns = 1024});
    }
    for (const char* text : {"1024x1024x1024 dtype=bf16", "1025x1025x1025 dtype=bf16", "1025x1024x1024"}) {
        CAPTURE(text);
        CHECK(trimmed_of(text).empty());
    }
    // Swapped, a tile's columns are rows of C.
    const KernelConfig swapped =
        parse_config("family=wgmma,block_m=128,block_n=40,block_k=64,stages=4,vector_width=8,boundary=hardware,swap_ab=1,trim=1");
    CHECK(why_invalid(parse_shape("41x256x256 dtype=bf16 ops=nt").problem, swapped, device).value_or("") == "");
    CHECK(why_invalid(parse_shape("129x256x256 dtype=bf16 ops=nt").problem, swapped, device).value_or("") == "");
    CHECK(why_invalid(parse_shape("64x256x256 dtype=bf16 ops=nt").problem, swapped, device).value_or("").find("40 x 128") !=
          std::string::npos);
    // Nor are products of planes.
    CHECK(why_invalid(parse_shape("65x64x64").problem,
                      parse_config("family=wgmma,block_m=64,block_n=64,block_k=64,stages=2,vector_width=8,boundary=hardware,planes=2,"
                                   "promote_k=64,trim=1"),
                      device)
              .value_or("")
              .find("not trimmed") != std::string::npos);
}

TEST_CASE("operands of which planes are made are not padded before") {
    const DeviceInfo device = assumed_device("90");
    const auto refusal_of = [&](const char* shape, const std::string& fields) {
        return why_invalid(parse_shape(shape).problem,
                           parse_config("family=wgmma,block_m=64,block_n=64,block_k=64,stages=2,vector_width=8,boundary=hardware" + fields),
                           device)
            .value_or("");
    };
    for (const char* const pack : {",pack_ab=1", ",pack_ab=2", ",pack_ab=3"}) {
        CAPTURE(pack);
        CHECK(refusal_of("65x67x69", std::string(",planes=2,promote_k=64") + pack).find("pack_ab") != std::string::npos);
    }
    CHECK(refusal_of("65x67x69", ",planes=2,promote_k=64") == "");
    CHECK(refusal_of("65x67x69 dtype=bf16", ",pack_ab=3") == "");
}

TEST_CASE("edge tiles are peeled where boxes lack more than a few rows") {
    const auto mode_of = [](const char* shape, const std::string& changes, const char* tile = "block_m=64,block_n=80") {
        const KernelConfig config =
            parse_config("family=wgmma,block_k=64,stages=2,vector_width=8,boundary=hardware," + std::string(tile) + changes);
        return with_wgmma_boundary(config, parse_shape(std::string(shape) + " dtype=bf16").problem).boundary;
    };
    CHECK(mode_of("128x160x100 ops=nt", "") == boundary::hardware);
    CHECK(mode_of("122x160x100 ops=nt", "") == boundary::hardware);
    CHECK(mode_of("120x160x100 ops=nt", "") == boundary::peeled);
    CHECK(mode_of("128x150x100 ops=nt", "") == boundary::peeled);
    CHECK(mode_of("80x128x100 ops=nt", ",swap_ab=1") == boundary::hardware);
    CHECK(mode_of("128x80x100 ops=nt", ",swap_ab=1") == boundary::peeled);
    // Where rows run along M or N, whole slabs are missing, if any, and none where they end with the matrix.
    CHECK(mode_of("70x160x100 ops=tt", "") == boundary::hardware);
    CHECK(mode_of("70x160x100 ops=tt", "", "block_m=192,block_n=80,warps_m=3") == boundary::hardware);
    CHECK(mode_of("70x161x100 ops=tt ldc=161", "", "block_m=192,block_n=80,warps_m=3") == boundary::peeled);
    CHECK(mode_of("64x130x100 ops=nn ldc=131", "", "block_m=64,block_n=128") == boundary::peeled);
    CHECK(mode_of("64x200x100 ops=nn ldc=201", "", "block_m=64,block_n=128") == boundary::hardware);
    // Parts of sums have no boxes, so that slabs do not end with the matrix; and a cluster may have whole tiles beyond it.
    CHECK(mode_of("64x130x8192 ops=nn ldb=136 ldc=136", "", "block_m=64,block_n=128") == boundary::hardware);
    CHECK(mode_of("64x130x8192 ops=nn ldb=136 ldc=136", ",split_k=4", "block_m=64,block_n=128") == boundary::peeled);
    CHECK(mode_of("192x160x100 ops=nt", "") == boundary::hardware);
    CHECK(mode_of("192x160x100 ops=nt", ",multicast_b=2") == boundary::peeled);
    // The second slab holds 32 of a tile's columns. One column within it, or within the first slab, leaves none, or that one, missing.
    CHECK(mode_of("64x161x100 ops=nn ldb=168", "", "block_m=64,block_n=96") == boundary::hardware);
    CHECK(mode_of("64x160x100 ops=nn", "", "block_m=64,block_n=96") == boundary::peeled);
    CHECK(mode_of("64x97x100 ops=nn ldb=104", ",multicast_a=2", "block_m=64,block_n=96") == boundary::peeled);
    CHECK(mode_of("64x161x100 ops=nn ldb=168", ",multicast_a=2", "block_m=64,block_n=96") == boundary::hardware);
    // A tile that thread blocks share is copied whole.
    CHECK(mode_of("128x150x100 ops=nt", ",multicast_b=2") == boundary::hardware);
    CHECK(mode_of("100x160x100 ops=nt", ",multicast_a=2") == boundary::hardware);
    for (const KernelConfig& config :
         wgmma_of(search_space(parse_shape("64x130x8192 dtype=bf16 ldb=136 ldc=136").problem, assumed_device("90"), Effort::normal))) {
        CAPTURE(to_text(config));
        CHECK(with_wgmma_boundary(config, parse_shape("64x130x8192 dtype=bf16 ldb=136 ldc=136").problem) == config);
    }
}

TEST_CASE("tiles that make one column are offered in one order") {
    const DeviceInfo device = assumed_device("90");
    for (const char* text : {"16x28672x8192 dtype=bf16 ops=nt", "28672x16x8192 dtype=bf16 ops=nt", "32000x64x1024 dtype=f16 ops=tt"}) {
        CAPTURE(text);
        const GemmProblem problem = parse_shape(text).problem;
        int of_many_tiles = 0;
        for (const KernelConfig& config : wgmma_of(search_space(problem, device, Effort::full))) {
            if (wgmma::clusters_right(config, problem.m, problem.n) > 1) continue;
            CAPTURE(to_text(config));
            CHECK(config.raster == 0);
            if (wgmma::clusters_left(config, problem.m, problem.n) > device.sm_count) ++of_many_tiles;
        }
        CHECK(of_many_tiles > 0);
    }
}

TEST_CASE("what is predicted to be fastest keeps tiles coming, and does not wait for clusters that find no room") {
    const DeviceInfo device = assumed_device("90");
    for (const char* text : {"1024x1024x1024 dtype=bf16", "4096x4096x4096 dtype=bf16 ops=nt", "64x11008x4096 dtype=bf16 ops=nt",
                             "32x6144x4096 dtype=bf16 ops=nt", "512x512x32768 dtype=f16", "1000x1000x1000 dtype=bf16", "3000x3000x3000"}) {
        CAPTURE(text);
        const GemmProblem problem = parse_shape(text).problem;
        const KernelConfig best = default_config(problem, device);
        REQUIRE(best.family == family::wgmma);
        CHECK(best.stages >= 3);
        // The 132 SMs do not hold 33 clusters of 4 or more thread blocks.
        const i64 blocks = wgmma::blocks(best, problem.m, problem.n, problem.batch);
        CHECK((cluster_size_of(best) < 4 || blocks <= 120 || blocks > 2 * device.sm_count));
    }
}

TEST_CASE("warpgroups take turns where an SM has several tiles") {
    const DeviceInfo device = assumed_device("90");
    const auto turns = [&](const char* text) {
        const std::vector<KernelConfig> found = wgmma_of(search_space(parse_shape(text).problem, device, Effort::normal));
        return std::count_if(found.begin(), found.end(), [](const KernelConfig& c) { return c.ping_pong == 1; });
    };
    CHECK(turns("4096x4096x1024 dtype=bf16") >= 8);
    CHECK(turns("512x512x4096 dtype=bf16") == 0);
    CHECK(turns("4096x4096x4096") == 0);
}

TEST_CASE("stages make room for all boxes of a tile, and for what comes of C before the sums are ready where it is read, or take it") {
    const DeviceInfo device = assumed_device("90");
    const auto depths = [&](const char* text) {
        std::set<int> found;
        for (const KernelConfig& c : wgmma_of(search_space(parse_shape(text).problem, device, Effort::normal)))
            if (c.block_m == 128 && c.block_n == 128 && c.block_k == 64 && c.ping_pong) found.insert(c.stages);
        return found;
    };
    CHECK(depths("4096x4096x1024 dtype=bf16 ops=nt") == std::set<int>{5, 6});
    CHECK(depths("4096x4096x1024 dtype=bf16 ops=nt beta=1") == std::set<int>{5, 6});
    // Boxes of which few come early are not predicted to be fast.
    const GemmProblem problem = parse_shape("4096x4096x1024 dtype=bf16 ops=nt beta=1").problem;
    const KernelConfig first = default_config(problem, device);
    const KernelSignature signature = main_signature(problem, first);
    CHECK(wgmma::boxes_of_tile(first, signature) == wgmma::boxes_of_warp(first, signature));
}

TEST_CASE("blocks share both operands where rows are no whole lines") {
    const DeviceInfo device = assumed_device("90");
    const auto share_both = [&](const char* text) {
        const std::vector<KernelConfig> found = wgmma_of(search_space(parse_shape(text).problem, device, Effort::full));
        return std::any_of(found.begin(), found.end(), [](const KernelConfig& c) { return c.multicast_a > 1 && c.multicast_b > 1; });
    };
    CHECK(share_both("2000x2000x2000 dtype=bf16"));
    CHECK(!share_both("2048x2048x2048 dtype=bf16"));
    // These rows are padded to whole lines.
    CHECK(!share_both("2001x2001x2001 dtype=bf16"));
}

TEST_CASE("tiles are shared where there are many, K is split where there are few") {
    const DeviceInfo device = assumed_device("90");
    const std::vector<KernelConfig> large =
        wgmma_of(search_space(parse_shape("4096x4096x4096 dtype=bf16").problem, device, Effort::normal));
    CHECK(std::any_of(large.begin(), large.end(), [](const KernelConfig& c) { return c.multicast_a > 1 || c.multicast_b > 1; }));
    CHECK(large.front().split_k == 1);
    const std::vector<KernelConfig> deep = wgmma_of(search_space(parse_shape("64x64x65536 dtype=bf16").problem, device, Effort::normal));
    CHECK(deep.front().split_k > 8);
    CHECK(std::any_of(deep.begin(), deep.end(), [](const KernelConfig& c) { return c.cluster == 1 && c.split_k > 1; }));
    const std::vector<KernelConfig> squares =
        wgmma_of(search_space(parse_shape("512x512x32768 dtype=bf16").problem, device, Effort::normal));
    CHECK(std::any_of(squares.begin(), squares.end(),
                      [](const KernelConfig& c) { return c.split_k > 1 && c.multicast_a * c.multicast_b > 1; }));
    // A few parts are summed by clusters.
    CHECK(default_config(parse_shape("128x4096x14336 dtype=bf16 ops=nt").problem, device).cluster > 1);
}

TEST_CASE("wgmma is offered on compute capability 9.0 alone, and never where FP32 FMAs are asked for") {
    const auto offered = [](const char* text, const DeviceInfo& device) {
        const GemmProblem problem = parse_shape(text).problem;
        return !wgmma_of(search_space(problem, device, Effort::normal)).empty() || default_config(problem, device).family == family::wgmma;
    };
    DeviceInfo emulated = assumed_device("90");
    emulated.emulated = true;
    CHECK(offered("1024x1024x1024 dtype=bf16", assumed_device("90")));
    CHECK(offered("1024x1024x1024 compute=tf32", assumed_device("90")));
    for (const char* text : {"1024x1024x1024 dtype=bf16", "1023x1024x1025 dtype=f16", "1024x1024x1024 compute=tf32"}) {
        for (const char* architecture : {"75", "80", "89", "100", "103", "120"}) {
            CAPTURE(architecture);
            CHECK_FALSE(offered(text, assumed_device(architecture)));
        }
        CHECK_FALSE(offered(text, host_device_info()));
        CHECK_FALSE(offered(text, emulated));
    }
    CHECK_FALSE(offered("1024x1024x1024 compute=f32_strict", assumed_device("90")));
}

TEST_CASE("a wgmma config that the device or the problem rules out says why") {
    const DeviceInfo hopper = assumed_device("90");
    const std::string tile = "family=wgmma,block_m=128,block_n=128,block_k=64,stages=4,vector_width=8,boundary=hardware,warps_m=2";
    const auto reason = [&](const GemmProblem& problem, const std::string& changes, const DeviceInfo& device) {
        return why_invalid(problem, parse_config(tile + changes), device).value_or("");
    };
    const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
    GemmProblem problem = parse_shape("1024x1024x1024 dtype=bf16").problem;
    CHECK(reason(problem, "", hopper) == "");
    DeviceInfo emulated = hopper;
    emulated.emulated = true;
    for (const DeviceInfo& device : {assumed_device("80"), assumed_device("100"), assumed_device("120"), host_device_info(), emulated})
        CHECK(has(reason(problem, "", device), "compute capability 9.0"));
    CHECK_THROWS_AS(parse_config(tile + ",split_k=2048"), Error);
    CHECK(has(reason(parse_shape("1024x1024x100 dtype=bf16 lda=104").problem, ",split_k=128", hopper), "more parts than K"));
    CHECK(has(reason(problem, ",split_k=512", hopper), "MiB of workspace"));
    CHECK(has(reason(parse_shape("2200000000x64x8 dtype=bf16").problem, "", hopper), "left to naive"));
    CHECK(has(reason(parse_shape("8388608x8388608x8 dtype=bf16").problem, "", hopper), "more blocks than a grid"));

    CHECK(has(reason(parse_shape("2147483600x64x8 dtype=bf16").problem, "", hopper), "TMA's coordinates"));

    // Rows and matrices that TMA's distances of 40 bits do not reach.
    const i64 far = i64{1} << 39;
    for (i64 GemmProblem::*distance : {&GemmProblem::lda, &GemmProblem::ldb, &GemmProblem::ldc, &GemmProblem::stride_a,
                                       &GemmProblem::stride_b, &GemmProblem::stride_c}) {
        GemmProblem wide = problem;
        wide.batch = 2;
        wide.*distance = far;
        CHECK(has(reason(wide, "", hopper), "2^40 bytes"));
        wide.*distance = far - 8;
        CHECK(reason(wide, "", hopper) == "");
    }
}

TEST_CASE("the search space of every tensor-core shape of the benchmark is made in well under a second") {
    const DeviceInfo device = assumed_device("90");
    std::vector<Shape> shapes = read_shapes(TMM_SOURCE_DIR "/bench/shapes/bf16.txt");
    REQUIRE(shapes.size() >= 30);
    for (const Shape& shape : read_shapes(TMM_SOURCE_DIR "/bench/shapes/tf32.txt")) shapes.push_back(shape);
    for (const Shape& shape : shapes) {
        CAPTURE(shape.problem.m);
        CAPTURE(shape.problem.n);
        CAPTURE(shape.problem.k);
        const std::clock_t begin = std::clock();
        const SearchSpace space = search_space(shape.problem, device, Effort::normal);
        const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
#if !defined(__SANITIZE_ADDRESS__)
        CHECK(seconds < 0.9);
#endif
        CHECK(wgmma_of(space).size() >= 8);
        if (std::getenv("TMM_TEST_VERBOSE"))
            fmt::print("{}x{}x{}: {:.3f} s, {} candidates, {} of wgmma, {} rejections; {}\n", shape.problem.m, shape.problem.n,
                       shape.problem.k, seconds, space.candidates.size(), wgmma_of(space).size(), space.rejections.size(),
                       to_text(space.candidates.front()));
    }
}

TEST_CASE("an untuned product's tiles are walked over in bands where an operand would not stay in the L2 cache") {
    const DeviceInfo device = assumed_device("90");
    const auto config = [&](const char* shape) { return default_config(parse_shape(shape).problem, device); };
    CHECK(config("8192x8192x8192 dtype=bf16").raster > 0);
    CHECK(config("2048x2048x2048 dtype=bf16").raster == 0);
    // Both tiles of A's rows share the tile of B, which is read once.
    CHECK(config("256x28672x8192 dtype=bf16 ops=nt").multicast_b == 2);
}
