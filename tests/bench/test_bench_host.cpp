// The search on the emulated device: what is fast there is measured, and what it can't finish is said at once.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "generator/choice/cost_model.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/search_space.h"
#include "generator/machine/device_info.h"
#include "generator/text/shapes_file.h"
#include "tests/support/bench_testing.h"

using namespace tmm;
using namespace bench_testing;

TEST_CASE("the plainest kernels are among the first that are measured, whatever the shape and the effort") {
    const DeviceInfo host = host_device_info();
    for (const Shape& shape : read_shapes(std::string(TMM_SOURCE_DIR) + "/examples/shapes.txt", {}))
        for (const Effort effort : {Effort::quick, Effort::normal}) {
            CAPTURE(shape.line);
            const std::vector<KernelConfig> candidates = search_space(shape.problem, host, effort).candidates;
            const auto first = [&](int family) {
                return std::find_if(candidates.begin(), candidates.end(), [&](const KernelConfig& c) { return c.family == family; }) -
                       candidates.begin();
            };
            CHECK(first(family::naive) < 5);
            CHECK(first(family::tiled) < 5);
            CHECK(first(family::simt) < 5);
        }
}

TEST_CASE("on the emulated device a product that needs no barrier is predicted to be faster than a small one that needs many") {
    const DeviceInfo host = host_device_info();
    const GemmProblem small = parse_shape("24x24x24").problem;
    const CostModel model(small, host);
    const KernelConfig naive = fallback_config();
    KernelConfig tiled{.family = family::tiled, .block_m = 8, .block_n = 8, .block_k = 8, .boundary = boundary::exact};
    CHECK(model.estimate(naive) < model.estimate(tiled));
    // The predicted time grows with the work.
    const GemmProblem large = parse_shape("240x240x240").problem;
    CHECK(CostModel(large, host).estimate(naive) > 100 * model.estimate(naive));
}

TEST_CASE("a shape that the emulated device can't finish in a minute is too large for it, and for no GPU") {
    const GemmProblem large = parse_shape("4096x4096x4096").problem;
    CHECK(why_too_large(large, host_device_info(), 1).value_or("").find("it is too large for the emulated device") == 0);
    CHECK_FALSE(why_too_large(parse_shape("256x256x256").problem, host_device_info(), 100));
    DeviceInfo gpu = host_device_info();
    gpu.emulated = false;
    CHECK_FALSE(why_too_large(large, gpu, 100));
    // Nothing overflows, however large the problem is.
    CHECK(why_too_large(parse_shape("1000000000x1000000000x1000000000").problem, host_device_info(), 1));
}

TEST_CASE("tmm-bench names the shape that is too large and goes on with the others, without a rate of the host's") {
    const Folder folder;
    const std::string shapes = folder.with("shapes.txt", "8192 8192 8192\n8 8 8\n");
    for (const char* mode : {"--pairs 2 ", "--accuracy "}) {
        const Outcome run = bench(folder, mode + std::string("--gpu host --shapes ") + shapes);
        INFO(run.text);
        CHECK(run.status == 6);
        CHECK(contains(run.text, "8192x8192x8192"));
        CHECK(contains(run.text, "it is too large for the emulated device"));
        CHECK(contains(run.text, "use a GPU, or a shape of at most"));
        CHECK(contains(run.text, "8x8x8"));
        CHECK_FALSE(contains(run.text, "TFLOP"));
    }
}

TEST_CASE("tmm-bench compares doubles, and marks who is not as accurate as their peer") {
    const Folder folder;
    const std::string shapes = folder.with(
        "shapes.txt", "33 29 70 dtype=f64 ops=tn beta=1\n8 8 8 dtype=f64 batch=3\n12 20 9 dtype=f64 epilogue=bias+gelu bias_type=f64\n");
    const std::string csv = folder.file("times.csv");
    const Outcome run = bench(folder, "--pairs 2 --gpu host --vs cpu,naive --csv " + csv + " --shapes " + shapes);
    INFO(run.text);
    CHECK(run.status == 0);
    CHECK(contains(run.text, "33x29x70 dtype=f64 ops=tn beta=1"));
    // The errors of tmm, the best peer and the naive kernel are those of doubles: sums in floats would show 1e-7.
    CHECK(contains(run.text, "e-16 "));
    CHECK_FALSE(contains(run.text, "e-07 "));
    CHECK_FALSE(contains(run.text, "e-08 "));
}

TEST_CASE("tmm-bench compares whole numbers, which are right to the last bit") {
    const Folder folder;
    const std::string shapes =
        folder.with("shapes.txt", "33 29 70 dtype=s8 ops=tn alpha=-3 beta=2\n8 8 8 dtype=s8 batch=3\n1 40 300 dtype=s8 ops=nt\n");
    const Outcome run = bench(folder, "--pairs 2 --gpu host --vs cpu,naive --json " + folder.file("times.json") + " --shapes " + shapes);
    INFO(run.text);
    CHECK(run.status == 0);
    CHECK_FALSE(contains(run.text, "WRONG"));
    const std::string json = read(folder.file("times.json"));
    CHECK(contains(json, "33x29x70 dtype=s8 ops=tn beta=1"));
    CHECK(contains(json, "OpenBLAS multiplies no whole numbers"));
}

TEST_CASE("a fraction that whole numbers are to be multiplied by is refused where it stands") {
    const Folder folder;
    for (const char* tool : {"alpha=0.5", "beta=1.25", "alpha=3e9"}) {
        const Outcome run = bench(folder, "--gpu host --shapes " + folder.with("shapes.txt", std::string("8 8 8 dtype=s8 ") + tool + "\n"));
        INFO(run.text);
        CHECK(run.status == 2);
        CHECK(contains(run.text, "shapes.txt:1:16"));
        CHECK(contains(run.text, "write a whole number"));
    }
    CHECK(bench(folder, "--pairs 2 --gpu host --shapes " + folder.with("shapes.txt", "8 8 8 dtype=s8 alpha=-2 beta=3\n")).status == 0);
}
