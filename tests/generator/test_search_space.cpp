// Tests which configs a problem is offered, and what their plans need.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "generator/choice/predicted_config.h"
#include "generator/choice/search_space.h"
#include "generator/choice/validity.h"
#include "generator/families/simt/simt.h"
#include "generator/kernel/kernel_source.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/plan_testing.h"
#include "tmm/families/simt/rules.h"

using namespace tmm;

namespace {

const char* const kShapes[] = {"1x1x1",
                               "3x3x3",
                               "128x128x128",
                               "1023x1025x1027",
                               "1x4096x4096",
                               "4096x1x4096 ops=tt",
                               "64x64x65536",
                               "65536x64x64",
                               "64x64x64 batch=1024",
                               "2047x2049x2051 ops=nt beta=1",
                               "100x90x80 align=4 lda=83",
                               "1000000x1x65536",
                               "1x4096x4096 dtype=bf16 ops=nt",
                               "16x11008x4096 dtype=f16 ctype=f32 align=2",
                               "1024x1024x1024 dtype=bf16"};

}  // namespace

TEST_CASE("K is divided where C has few tiles for the SMs, and not where it has many") {
    const DeviceInfo hopper = assumed_device("90");
    const auto most_parts = [&](const char* shape, int block) {
        int most = 0;
        for (const KernelConfig& c : search_space(parse_shape(shape).problem, hopper, Effort::full).candidates)
            if (c.family == family::simt && c.block_m == block && c.block_n == block) most = std::max(most, c.split_k);
        return most;
    };
    CHECK(most_parts("8192x8192x8192 compute=f32_strict", 128) == 1);
    CHECK(most_parts("512x512x8192 compute=f32_strict", 128) > 1);
}

TEST_CASE("every candidate is valid, offered once, and the default leads") {
    for (const char* architecture : {"75", "80", "90"}) {
        const DeviceInfo device = assumed_device(architecture);
        for (const char* text : kShapes) {
            CAPTURE(text);
            CAPTURE(architecture);
            const GemmProblem problem = parse_shape(text).problem;
            const SearchSpace space = search_space(problem, device, Effort::normal);
            REQUIRE(!space.candidates.empty());
            CHECK(space.candidates.front() == default_config(problem, device));
            std::vector<std::string> names;
            for (const KernelConfig& config : space.candidates) {
                names.push_back(to_text(config));
                CAPTURE(names.back());
                CHECK(!why_invalid(problem, config, device));
                CHECK((device.compute_capability() >= 80 || config.async_copy == 0));
            }
            std::sort(names.begin(), names.end());
            CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
            for (const RejectedConfig& rejection : space.rejections) {
                if (rejection.reason.empty()) FAIL_CHECK("a rejection without a reason");
                // Rejections are counted by rule, whatever the sizes.
                if (without_numbers(rejection.reason) != rejection.reason) FAIL_CHECK(rejection.reason);
            }
        }
    }
}

TEST_CASE("few rows of 16-bit elements are read 8 at a time") {
    const DeviceInfo device = assumed_device("90");
    for (const char* text : {"1x4096x4096 dtype=bf16", "2x4096x4096 dtype=f16 ops=nt", "4096x2x4096 dtype=bf16 ops=tn"}) {
        CAPTURE(text);
        const SearchSpace space = search_space(parse_shape(text).problem, device, Effort::normal);
        CHECK(std::count_if(space.candidates.begin(), space.candidates.end(),
                            [](const KernelConfig& c) { return c.family == family::gemv && c.vector_width == 8; }) >= 50);
    }
}

TEST_CASE("mma is offered for 16-bit operands, by asynchronous copies wherever an operand allows them") {
    const DeviceInfo device = assumed_device("80");
    struct Expected {
        const char* shape;
        int async_copy;
    };
    for (const auto& [text, async_copy] : {Expected{"2048x2048x2048 dtype=bf16", 1}, Expected{"1023x1023x1023 dtype=f16 ctype=f32", 0},
                                           Expected{"1024x1023x1024 dtype=f16", 1}, Expected{"64x64x65536 dtype=bf16 ops=tn", 1}}) {
        CAPTURE(text);
        const GemmProblem problem = parse_shape(text).problem;
        const SearchSpace space = search_space(problem, device, Effort::normal);
        CHECK(space.candidates.front().family == family::mma);
        int count = 0;
        for (const KernelConfig& c : space.candidates) {
            if (c.family != family::mma) continue;
            ++count;
            CHECK(c.async_copy == async_copy);
        }
        CHECK(count >= 30);
    }
    // They are not offered on older devices, nor for floats.
    for (const auto& [text, architecture] : {std::pair{"2048x2048x2048 dtype=bf16", "75"}, std::pair{"2048x2048x2048", "80"}}) {
        const SearchSpace space = search_space(parse_shape(text).problem, assumed_device(architecture), Effort::normal);
        CHECK(
            std::none_of(space.candidates.begin(), space.candidates.end(), [](const KernelConfig& c) { return c.family == family::mma; }));
    }
    CHECK(why_invalid(parse_shape("64x64x64 dtype=f16").problem,
                      parse_config("family=mma,block_m=64,block_n=64,block_k=32,warps_m=2,warps_n=2,stages=2,vector_width=8"),
                      assumed_device("75"))
              .value_or("")
              .find("compute capability 8.0") != std::string::npos);
}

TEST_CASE("no plan of a candidate needs more than a gibibyte of workspace, padding included") {
    const DeviceInfo device = assumed_device("90");
    for (const char* text : kShapes) {
        CAPTURE(text);
        const GemmProblem problem = parse_shape(text).problem;
        for (const KernelConfig& config : search_space(problem, device, Effort::full).candidates) {
            CAPTURE(to_text(config));
            CHECK(make_launch_plan(problem, config, device).workspace_bytes <= (std::int64_t{1} << 30));
        }
    }
}

TEST_CASE("a row and a column too many are offered to be trimmed, and counted so") {
    const DeviceInfo device = assumed_device("90");
    const GemmProblem problem = parse_shape("1025x1025x1025").problem;
    const SearchSpace space = search_space(problem, device, Effort::normal);
    CHECK(std::any_of(space.candidates.begin(), space.candidates.end(), [](const KernelConfig& c) { return c.trim != 0; }));
    CHECK(std::any_of(space.candidates.begin(), space.candidates.end(), [](const KernelConfig& c) { return c.trim == 0; }));

    const KernelConfig config = parse_config(
        "family=simt,block_m=128,block_n=64,block_k=16,thread_m=8,thread_n=8,stages=3,async_copy=1,vector_width=4,boundary=peeled,"
        "split_k=2,pack_ab=3,trim=1");
    CHECK(why_invalid(problem, config, device).value_or("") == "");
    const LaunchPlan plan = make_launch_plan(problem, config, device);
    REQUIRE(plan.steps.size() == 5);
    const char* const kernels[] = {"pack", "simt", "gemv", "gemv", "reduce"};
    const Extent whole{.rows = 1024, .columns = 1024};
    const Extent extents[] = {
        whole, whole, {.row0 = 1024, .rows = 1, .columns = 1025}, {.column0 = 1024, .rows = 1024, .columns = 1}, whole};
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        CAPTURE(i);
        CHECK(name_of(plan.steps[i]) == kernels[i]);
        CHECK(plan.steps[i].extent == extents[i]);
    }
    CHECK(plan.steps[1].grid == 1024 / 128 * (1024 / 64) * 2);
    CHECK(std::any_of(space.candidates.begin(), space.candidates.end(),
                      [](const KernelConfig& c) { return c.trim == kTrimsByPack && c.slice_k > 1; }));
    // Strips run at the same time as the product, whether kernels of different calls overlap or not.
    for (const std::size_t strip : {2U, 3U}) {
        CHECK(plan.steps[strip].grid >= 128);
        CHECK(plan.steps[strip].begins_early);
    }
    CHECK(!plan.steps[1].begins_early);
    // Only what the main product reads is packed, and only its sums are left for the second kernel.
    // The copies' lines go on to a multiple of 64. No tile reaches past the last one's end.
    CHECK(plan.workspace_bytes == std::int64_t{4} * 1024 * (2 * 1088 + 2 * 1024));
    const auto bytes_of = [&](const char* shape, const char* changes) {
        return make_launch_plan(
                   parse_shape(shape).problem,
                   parse_config(std::string("family=simt,block_m=128,block_n=64,block_k=16,thread_m=8,thread_n=8,stages=3,async_copy=1,"
                                            "vector_width=4,boundary=peeled") +
                                changes),
                   device)
            .workspace_bytes;
    };
    // Lines of 1000 columns are read up to 1024.
    CHECK(bytes_of("1024x1000x64", ",pack_ab=2") == 4 * (64 * 1000 + 24));
    // A's tiles reach 24 past its last line, into B's copy or, where that is shorter, past it.
    CHECK(bytes_of("1000x1000x64", ",pack_ab=1") == 4 * (64 * 1000 + 24));
    // Copies of whole tiles take what they hold: 64 MiB.
    CHECK(bytes_of("4096x4096x4096", ",pack_ab=1") == std::int64_t{64} << 20);
    // The workspace also has a counter for each thread block that packs during the product.
    CHECK(make_launch_plan(parse_shape("4096x4096x4096").problem,
                           parse_config("family=simt,block_m=128,block_n=128,block_k=32,thread_m=8,thread_n=16,stages=2,async_copy=3,"
                                        "vector_width=4,pack_ab=5"),
                           device)
              .workspace_bytes == (std::int64_t{64} << 20) + 128);
    KernelConfig whole_split = config;
    whole_split.trim = 0;
    CHECK(longest_rounding_chain(plan) >= longest_rounding_chain(schedule_of(problem, whole_split, device)));
    // Kernels of their own have so few blocks for strips that along a deep K these take longer than all the rest: 1,500 us here, the rest
    // 100.
    for (const char* text : {"200x300x30000 compute=f32_strict", "129x130x65536 compute=f32_strict ops=tn"}) {
        CAPTURE(text);
        CHECK(default_config(parse_shape(text).problem, device).trim != 1);
    }
    // Where nothing is to be trimmed, no trimmed config is offered.
    for (const char* text : {"1024x1024x1024", "1000x1000x1000 batch=2"}) {
        const SearchSpace other = search_space(parse_shape(text).problem, device, Effort::normal);
        for (const KernelConfig& c : other.candidates) {
            if (c.trim == 0) continue;
            CAPTURE(to_text(c));
            CHECK(std::string(text) != "1024x1024x1024");
            const auto leaves_few = [](int block) { return 1000 % block >= 1 && 1000 % block <= 16; };
            CHECK((leaves_few(c.block_m) || leaves_few(c.block_n)));
        }
    }
}

TEST_CASE("of two operands that lie badly one may be packed alone") {
    const DeviceInfo device = assumed_device("90");
    const auto offers = [&](const char* text, int pack_ab, int async_copy, int along_k) {
        const SearchSpace space = search_space(parse_shape(text).problem, device, Effort::full);
        return std::any_of(space.candidates.begin(), space.candidates.end(), [&](const KernelConfig& c) {
            return c.family == family::simt && c.pack_ab == pack_ab && c.async_copy == async_copy && c.along_k == along_k;
        });
    };
    // The rows of both run along K: the operand of fewer elements, and the other is turned or read along K.
    CHECK(offers("512x24000x2816 ops=nt compute=f32_strict", 1, 2, 0));
    CHECK(offers("24000x512x2816 ops=nt compute=f32_strict", 2, 2, 0));
    CHECK(offers("512x24000x2816 ops=nt compute=f32_strict", 1, 1, 1));
    CHECK_FALSE(offers("512x24000x2816 ops=nt compute=f32_strict", 2, 2, 0));
    // Whole vectors are turned; of rows that do not start at any there are none.
    CHECK_FALSE(offers("511x24001x2815 ops=nt compute=f32_strict", 1, 2, 0));
    // The rows of one do, and none start at whole vectors.
    CHECK(offers("1023x1023x1023 compute=f32_strict", 1, 1, 0));
    CHECK(offers("1023x1023x1023 ops=tt compute=f32_strict", 2, 1, 0));
    CHECK(offers("1023x1023x1023 compute=f32_strict", 3, 1, 0));
    CHECK_FALSE(offers("1023x1023x1023 ops=tn compute=f32_strict", 1, 1, 0));
}

TEST_CASE("many small matrices are not packed first, a square for each") {
    // The measured times are 960 us, and 220 us without.
    CHECK(default_config(parse_shape("10x10x10 batch=100000 compute=f32_strict").problem, assumed_device("90")).pack_ab == 0);
}

TEST_CASE("small matrices whose rows lie anywhere are read one element at a time, and large ones by realigned chunks") {
    const DeviceInfo device = assumed_device("90");
    const auto best = [&](const char* shape) { return default_config(parse_shape(shape).problem, device); };
    for (const char* shape : {"17x17x17 dtype=bf16 batch=8000", "19x15x9 dtype=f16 ops=tt batch=10000"}) {
        CAPTURE(shape);
        CHECK(to_text(best(shape)).starts_with("mma"));
        CHECK(best(shape).vector_width == 1);
    }
    CHECK(best("2047x65x2047 dtype=bf16 batch=3").vector_width == 8);
}

TEST_CASE("the copy engine's tiles are offered where there is one, of rows that it may bring") {
    const auto brought = [](const char* text, const char* device) {
        std::vector<KernelConfig> configs;
        for (const KernelConfig& c : simt_configs(parse_shape(text).problem, assumed_device(device)))
            if (c.async_copy == 3) configs.push_back(c);
        return configs;
    };
    struct Case {
        const char* shape;
        int pack_ab;
    };
    // Rows along K are packed, and such as start anywhere.
    for (const Case& one : {Case{"2048x2048x2048 ops=tn", 0}, Case{"2048x2048x2048", 1}, Case{"2048x2048x2048 ops=tt", 2},
                            Case{"2048x2048x2048 ops=nt", 3}, Case{"1023x1023x1023 ops=tn", 3}, Case{"200x300x401 ops=tn ldb=304", 0}}) {
        CAPTURE(one.shape);
        const std::vector<KernelConfig> configs = brought(one.shape, "90");
        CHECK(configs.size() > 20);
        for (const KernelConfig& c : configs) {
            CAPTURE(to_text(c));
            CHECK((c.pack_ab & 3) == one.pack_ab);
            CHECK(c.stream_k == 0);
        }
        // Blocks of the product may pack what is packed.
        CHECK(std::any_of(configs.begin(), configs.end(), [](const KernelConfig& c) { return c.pack_ab > 3; }) == (one.pack_ab != 0));
        for (const char* device : {"100", "120"}) CHECK_FALSE(brought(one.shape, device).empty());
        for (const char* device : {"75", "80", "89"}) CHECK(brought(one.shape, device).empty());
    }
    // An H200 takes 2,530 us with them and 2,640 without.
    CHECK(default_config(parse_shape("4096x4096x4096 ops=tn compute=f32_strict").problem, assumed_device("90")).async_copy == 3);
}

TEST_CASE("the k of few tiles is sliced among a block's threads, and an SM that has its threads gets no slices") {
    const DeviceInfo device = assumed_device("90");
    const auto sliced = [&](const char* text) {
        std::vector<KernelConfig> configs;
        for (const KernelConfig& c : simt_configs(parse_shape(text).problem, device))
            if (c.slice_k > 1) configs.push_back(c);
        return configs;
    };
    for (const char* text : {"128x128x128", "8x4096x4096", "4096x8x4096 ops=tt", "33x35x37 ops=nt", "64x64x65536"}) {
        CAPTURE(text);
        CHECK(!sliced(text).empty());
        for (const KernelConfig& c : sliced(text)) {
            CAPTURE(to_text(c));
            const int on_an_sm = simt::threads(c) * c.min_blocks;
            CHECK(on_an_sm <= 512);
            CHECK(simt::blocks(c, parse_shape(text).problem.m, parse_shape(text).problem.n, 1) * simt::threads(c) <= 512 * device.sm_count);
        }
        const SearchSpace space = search_space(parse_shape(text).problem, device, Effort::full);
        CHECK(std::any_of(space.candidates.begin(), space.candidates.end(), [](const KernelConfig& c) { return c.slice_k > 1; }));
    }
    CHECK(sliced("8192x8192x8192").empty());
    CHECK(sliced("64x64x64 batch=4096").empty());
}

TEST_CASE("more effort offers more") {
    const DeviceInfo device = assumed_device("90");
    const GemmProblem problem = parse_shape("512x512x512").problem;
    const auto count = [&](Effort effort) { return search_space(problem, device, effort).candidates.size(); };
    CHECK(count(Effort::quick) < count(Effort::normal));
    CHECK(count(Effort::normal) < count(Effort::full));
}

TEST_CASE("the best of every family that comes near is a candidate, however many of another are predicted to be faster") {
    std::set<int> families;
    for (const KernelConfig& config : search_space(parse_shape("3x3x16").problem, host_device_info(), Effort::quick).candidates)
        families.insert(config.family);
    CHECK((families == std::set<int>{family::naive, family::tiled, family::simt, family::gemv}));
}

TEST_CASE("the best of each family is among the first that are measured") {
    const std::vector<KernelConfig> candidates =
        search_space(parse_shape("129x129x129 batch=64 dtype=bf16").problem, assumed_device("90"), Effort::normal).candidates;
    REQUIRE(candidates.size() > 100);
    std::set<int> first;
    for (std::size_t i = 0; i < 5; ++i) first.insert(candidates[i].family);
    std::set<int> all;
    for (const KernelConfig& config : candidates) all.insert(config.family);
    CHECK(all.size() > 1);
    CHECK(first == all);
}

TEST_CASE("the fallback serves every problem, also beyond 2^31") {
    const DeviceInfo device = assumed_device("90");
    for (const char* text : {"3000000000x1x1", "1x3000000000x2", "1x1x3000000000", "70000x70000x1", "1x1x1 batch=100000"}) {
        CAPTURE(text);
        const GemmProblem problem = parse_shape(text).problem;
        CHECK(!why_invalid(problem, fallback_config(), device));
        CHECK(!why_invalid(problem, default_config(problem, device), device));
    }
    for (const char* text :
         {"100x100x100 dtype=bf16", "100x100x100 dtype=f16 ctype=f32 align=2 beta=1 ops=tt", "3000000000x1x1 dtype=f16"}) {
        CAPTURE(text);
        const GemmProblem problem = parse_shape(text).problem;
        CHECK(!why_invalid(problem, fallback_config(), device));
        CHECK(!why_invalid(problem, default_config(problem, device), device));
    }
}

TEST_CASE("bytes count by the type of each matrix, partial results as floats") {
    const DeviceInfo device = assumed_device("90");
    const GemmProblem problem = parse_shape("4x100x4096 dtype=bf16").problem;
    const LaunchPlan plan =
        make_launch_plan(problem, parse_config("family=gemv,block_m=4,block_n=64,block_k=128,thread_n=4,vector_width=8,split_k=3"), device);
    REQUIRE(plan.steps.size() == 2);
    CHECK(plan.workspace_bytes == 4 * 3 * 4 * 100);
    // The second kernel is the one that sums the partial results of f32 operands, but for the type that it writes.
    CHECK(make_kernel_source(plan.steps[1].signature, plan.steps[1].kernel).name.find("tmm_reduce_bf16_nn_") == 0);
    const LaunchPlan wide = make_launch_plan(parse_shape("4x100x4096 dtype=bf16 ctype=f32").problem, plan.config, device);
    const LaunchPlan floats = make_launch_plan(parse_shape("4x100x4096").problem, plan.config, device);
    CHECK(make_kernel_source(wide.steps[1].signature, wide.steps[1].kernel).name ==
          make_kernel_source(floats.steps[1].signature, floats.steps[1].kernel).name);
}

TEST_CASE("simt kernels that want far more registers than a thread has are not offered") {
    const DeviceInfo device = assumed_device("90");
    const auto offers = [&](const char* shape, const char* config) {
        const std::vector<KernelConfig> configs = search_space(parse_shape(shape).problem, device, Effort::full).candidates;
        const KernelConfig wanted = parse_config(config);
        return std::any_of(configs.begin(), configs.end(), [&](KernelConfig c) {
            c.fma_order = wanted.fma_order;
            c.overlap = wanted.overlap;
            return c == wanted;
        });
    };
    // 64 sums and twice 4 k of 16 elements do not fit 128 registers: ptxas 13.0 spills 316 bytes. Without along_k it is twice 1 k.
    const std::string tile =
        "family=simt,block_m=128,block_n=128,block_k=16,thread_m=8,thread_n=8,stages=3,async_copy=1,vector_width=4,"
        "boundary=exact,min_blocks=2";
    CHECK_FALSE(offers("2048x2048x2048 ops=nt compute=f32_strict", (tile + ",along_k=1").c_str()));
    CHECK(offers("2048x2048x2048 ops=tn compute=f32_strict", tile.c_str()));
    // Nor, by 156 bytes, the addresses of 48 elements that are copied one by one, each with a look at the matrix's edges.
    CHECK_FALSE(offers("1065x5719x31 ops=nt compute=f32_strict",
                       "family=simt,block_m=64,block_n=128,block_k=32,thread_m=8,thread_n=8,stages=2,async_copy=1,vector_width=4,"
                       "boundary=peeled,raster=8,min_blocks=4"));
}

TEST_CASE("a config that can't serve says why") {
    const DeviceInfo device = assumed_device("90");
    const auto reason = [&](const char* shape, const char* config) {
        return why_invalid(parse_shape(shape).problem, parse_config(config), device).value_or("");
    };
    CHECK(reason("100x100x100", "family=tiled,block_m=16,block_n=16,block_k=16,boundary=exact").find("multiples of 16") !=
          std::string::npos);
    CHECK(reason("100x100x100", "family=tiled,block_m=5,block_n=5,block_k=7").find("square") != std::string::npos);
    CHECK(reason("16x16x16 dtype=bf16", "family=naive,block_m=8,block_n=32") == "");
    CHECK(reason("16x16x16 dtype=f64", "family=naive,block_m=8,block_n=32") == "");
    CHECK(reason("16x16x16 dtype=f64 compute=f32", "family=naive,block_m=8,block_n=32").find("f32, f16, bf16, f64 and s8") !=
          std::string::npos);
    // A rule about an epilogue binds the kernel that applies it, and none before a step that does.
    GemmProblem with_expression = parse_shape("16x16x16 dtype=f64").problem;
    with_expression.epilogue = Epilogue::custom;
    const KernelConfig naive = parse_config("family=naive,block_m=8,block_n=32");
    CHECK(std::holds_alternative<Rejection>(resolve(with_expression, naive, device)));
    CHECK(std::holds_alternative<Schedule>(resolve(with_expression, naive, device, EpiloguePlace::step)));
    CHECK(reason("16x16x16 dtype=f16 btype=bf16", "family=naive,block_m=8,block_n=32").find("A and B of one type") != std::string::npos);
    CHECK(reason("16x16x16 dtype=f16 ctype=bf16", "family=naive,block_m=8,block_n=32").find("or f32") != std::string::npos);
    CHECK(reason("16x16x16 dtype=bf16", "family=tiled,block_m=8,block_n=8,block_k=8").find("f32 into f32") != std::string::npos);
    // Swapped, a config holds columns where it says rows.
    const char* const swapped = "family=gemv,block_m=4,block_n=32,block_k=128,thread_n=4,vector_width=4,boundary=exact,swap_ab=1";
    CHECK(reason("32x4x128", swapped) == "");
    CHECK(reason("36x32x128", swapped).find("multiples of 32, 4 and 128") != std::string::npos);
    const char* const wide = "family=gemv,block_n=256,block_k=64,thread_n=8,vector_width=8,boundary=peeled";
    CHECK(reason("1x512x512 dtype=f16", wide) == "");
    CHECK(reason("1x512x512", wide).find("16 bits") != std::string::npos);
    CHECK(reason("1x512x512 dtype=f16 ops=nt", wide).find("256") != std::string::npos);
    const std::string trimmed =
        "family=simt,block_m=64,block_n=32,block_k=16,thread_m=8,thread_n=4,stages=2,vector_width=4,trim=1,boundary=";
    // While operands are packed, up to four lines of each side whose long operand is.
    const auto by_pack = [&](const char* shape, const std::string& packing) {
        const std::string tile = "family=simt,block_m=64,block_n=32,block_k=32,thread_m=8,thread_n=4,stages=4,vector_width=4,async_copy=3,";
        return reason(shape, (tile + "boundary=peeled,trim=2," + packing).c_str());
    };
    CHECK(by_pack("65x36x64", "pack_ab=3") == "");
    CHECK(by_pack("69x36x64", "pack_ab=3") == "");
    CHECK(by_pack("68x36x64", "pack_ab=1") == "");
    CHECK(by_pack("69x37x64", "pack_ab=3").find("trim=2 takes 1 to 4 rows") != std::string::npos);
    CHECK(by_pack("65x32x64 ldb=36", "pack_ab=1").find("trim=2 takes 1 to 4 rows") != std::string::npos);
    CHECK(by_pack("65x33x1024", "pack_ab=7").find("trim=2 takes 1 to 4 rows") != std::string::npos);
    CHECK(reason(
              "65x33x64",
              "family=simt,block_m=64,block_n=32,block_k=16,thread_m=8,thread_n=4,stages=2,vector_width=4,boundary=peeled,pack_ab=3,trim=2")
              .find("async_copy=3") != std::string::npos);
    CHECK(reason("65x64x64", (trimmed + "exact").c_str()) == "");
    CHECK(reason("64x48x60", (trimmed + "peeled").c_str()) == "");
    CHECK(reason("65x64x60", (trimmed + "exact").c_str()).find("multiples of") != std::string::npos);
    CHECK(reason("128x64x64", (trimmed + "peeled").c_str()).find("nothing to trim") != std::string::npos);
    CHECK(reason("65x49x64", (trimmed + "peeled").c_str()) == "");
    CHECK(reason("65x49x64", (trimmed + "exact").c_str()).find("multiples of") != std::string::npos);
    CHECK(reason("81x49x64", (trimmed + "peeled").c_str()).find("leave 17 rows and 17 columns") != std::string::npos);
    CHECK(reason("5x64x64", (trimmed + "peeled").c_str()).find("1 to 16 of either") != std::string::npos);
    CHECK(reason("5x20x64", (trimmed + "peeled").c_str()).find("whole tile") != std::string::npos);
    CHECK(reason("5x64x64", "family=naive,block_m=4,block_n=32,trim=1") != "");
    CHECK(reason("5x64x64", "family=gemv,block_m=8,block_n=32,block_k=128,trim=1").find("tiles of simt") != std::string::npos);
    const std::string slice =
        "family=simt,block_m=32,block_n=32,thread_m=4,thread_n=4,stages=2,async_copy=1,vector_width=4,boundary=peeled";
    CHECK(reason("65x64x64", (slice + ",block_k=16,slice_k=4").c_str()) == "");
    CHECK(reason("65x64x64", (slice + ",block_k=16,slice_k=3").c_str()).find("1, 2, 4 or 8") != std::string::npos);
    CHECK(reason("65x64x64", (slice + ",block_k=16,slice_k=8").c_str()).find("multiple of 4") != std::string::npos);
    CHECK(reason("65x64x64", (slice + ",block_k=16,slice_k=4,along_k=1").c_str()).find("multiple of 8") != std::string::npos);
    CHECK(reason("65x64x64", (slice + ",block_k=16,slice_k=2,stream_k=1").c_str()).find("slice_k is 1") != std::string::npos);
    CHECK(reason("65x64x64", "family=tiled,block_m=8,block_n=8,block_k=8,slice_k=2") != "");
    const std::string brought =
        "family=simt,block_m=64,block_n=64,block_k=8,thread_m=8,thread_n=8,stages=3,async_copy=3,vector_width=4,boundary=peeled";
    CHECK(reason("64x64x64 ops=tn", brought.c_str()) == "");
    CHECK(reason("65x67x63 ops=tn", (brought + ",pack_ab=3").c_str()) == "");
    CHECK(reason("64x64x64", brought.c_str()).find("operands packed") != std::string::npos);
    CHECK(reason("65x64x64 ops=tn", brought.c_str()).find("multiples of 16 bytes") != std::string::npos);
    CHECK(reason("64x64x64 ops=tn", (brought + ",stream_k=1").c_str()).find("stream_k is 0") != std::string::npos);
    CHECK(why_invalid(parse_shape("64x64x64 ops=tn").problem, parse_config(brought), assumed_device("80")).value_or("").find("9.0") !=
          std::string::npos);
    const std::string beside =
        "family=simt,block_m=64,block_n=64,block_k=32,thread_m=8,thread_n=8,async_copy=3,vector_width=4,boundary=peeled,stages=";
    CHECK(reason("65x67x300", (beside + "3,pack_ab=7").c_str()) == "");
    CHECK(reason("65x67x300", (beside + "2,pack_ab=7").c_str()).find("no room for two squares") != std::string::npos);
    CHECK(reason("65x67x300 ops=tn align=16 lda=68 ldb=68", (beside + "3,pack_ab=4").c_str()).find("0 to 3, or 5 to 7") !=
          std::string::npos);
    CHECK(reason("65x67x64", (beside + "3,pack_ab=7").c_str()).find("K is too short") != std::string::npos);
    CHECK(reason("65x67x300 batch=2", (beside + "3,pack_ab=7").c_str()).find("batch is 1") != std::string::npos);
    CHECK(reason("65x67x300", (beside + "3,pack_ab=7,split_k=2").c_str()).find("split_k is 1") != std::string::npos);
    CHECK(reason("65x67x300", (slice + ",block_k=16,pack_ab=7").c_str()).find("async_copy=3") != std::string::npos);
    CHECK(reason("65x67x300",
                 "family=simt,block_m=32,block_n=64,block_k=32,thread_m=8,thread_n=8,stages=3,async_copy=3,vector_width=4,"
                 "boundary=peeled,pack_ab=7")
              .find("larger power of two") != std::string::npos);
    CHECK(reason("1408x3072x2048",
                 "family=simt,block_m=128,block_n=128,block_k=32,thread_m=8,thread_n=16,stages=3,async_copy=3,vector_width=4,"
                 "boundary=exact,min_blocks=2,pack_ab=5")
              .find("whole waves") != std::string::npos);
    CHECK(reason("2000x2000x2000",
                 "family=simt,block_m=96,block_n=128,block_k=32,thread_m=8,thread_n=8,stages=3,async_copy=3,vector_width=4,"
                 "boundary=peeled,min_blocks=2,pack_ab=5")
              .find("larger power of two") != std::string::npos);
    CHECK(reason("64x64x2", "family=gemv,block_n=128,block_k=32,thread_n=4,split_k=4").find("more parts than K") != std::string::npos);
}

TEST_CASE("a rejection is counted by its rule: numbers go, names that hold digits stay") {
    CHECK(without_numbers("needs more bytes of shared memory than a block may have (245760, of 232448)") ==
          "needs more bytes of shared memory than a block may have");
    CHECK(without_numbers("exact needs m, n and k to be multiples of 128, 64 and 8") ==
          "exact needs m, n and k to be multiples of …, … and …");
    CHECK(without_numbers("cp.async needs compute capability 8.0") == "cp.async needs compute capability …");
    CHECK(without_numbers("f32_strict takes FP32 FMAs of bf16 and 2^31 items") == "f32_strict takes FP32 FMAs of bf16 and … items");
    CHECK(without_numbers("a sentence (with words in parentheses)") == "a sentence (with words in parentheses)");
    const SearchSpace space = search_space(parse_shape("1000 77 4096").problem, host_device_info(), Effort::normal);
    std::size_t total = 0;
    for (const auto& [reason, count] : count_by_reason(space.rejections)) total += static_cast<std::size_t>(count);
    CHECK(total == space.rejections.size());
    CHECK(count_by_reason(space.rejections).size() < 40);
}
