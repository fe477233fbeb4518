// Tests when the search offers kernels of few rows and many columns along K that TMA serves, and what it says of them elsewhere.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "generator/choice/predicted_config.h"
#include "generator/choice/search_space.h"
#include "generator/choice/validity.h"
#include "generator/families/skinny/skinny.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/emulation/host_device.h"
#include "runtime/select/selection.h"

using namespace tmm;

namespace {

GemmProblem problem_of(const char* text) {
    return parse_shape(text).problem;
}

bool is_skinny(const KernelConfig& config) {
    return config.family == family::skinny;
}

constexpr const char* kConfig =
    "family=skinny,block_m=16,block_n=28,block_k=128,thread_m=8,thread_n=7,stages=3,vector_width=4,boundary=hardware,slice_k=2";

std::string why_not(const char* shape, const std::string& changes = "", const char* device = "90") {
    KernelConfig config = parse_config(kConfig);
    if (!changes.empty()) {
        const KernelConfig changed = parse_config("family=skinny," + changes);
        for (const Parameter& parameter : kParameters)
            if (changed.*parameter.member != parameter.neutral) config.*parameter.member = changed.*parameter.member;
    }
    return why_invalid(problem_of(shape), config, assumed_device(device)).value_or("");
}

bool contains(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("few rows, or few columns, along K are skinny's where TMA brings them") {
    const DeviceInfo h200 = assumed_device("90");
    for (const char* shape : {"16x11008x4096 ops=nt", "32x4096x11008 ops=nt", "24x8192x8192 ops=nt", "4096x20x4096 ops=nt",
                              "7x9000x4096 ops=nt batch=2", "16x11008x4096 ops=nt beta=1", "40x4096x4096 ops=nt lda=4100"}) {
        CAPTURE(shape);
        for (const char* compute : {"", " compute=f32_strict"}) {
            const GemmProblem problem = problem_of((std::string(shape) + compute).c_str());
            const KernelConfig config = default_config(problem, h200);
            CHECK(is_skinny(config));
            CHECK(config.swap_ab == (problem.m > problem.n ? 1 : 0));
            const SearchSpace space = search_space(problem, h200, Effort::normal);
            CHECK(std::count_if(space.candidates.begin(), space.candidates.end(), is_skinny) >= 20);
        }
    }
}

TEST_CASE("no candidate is skinny that could not run") {
    for (const char* shape : {"16x11008x4096", "16x11008x4096 ops=tn", "16x11008x4096 ops=tt", "16x11008x4096 ops=nt dtype=bf16",
                              "16x11008x4095 ops=nt", "16x11008x4096 ops=nt align=4", "4096x4096x4096 ops=nt"}) {
        CAPTURE(shape);
        CHECK(skinny_configs(problem_of(shape), assumed_device("90")).empty());
    }
    for (const char* device : {"75", "80", "89"}) CHECK(skinny_configs(problem_of("16x11008x4096 ops=nt"), assumed_device(device)).empty());
    CHECK(skinny_configs(problem_of("16x11008x4096 ops=nt"), host_device_info()).empty());
    for (const char* device : {"100", "120"})
        CHECK_FALSE(skinny_configs(problem_of("16x11008x4096 ops=nt"), assumed_device(device)).empty());
    const GemmProblem problem = problem_of("13x1000x3004 ops=nt");
    const std::vector<KernelConfig> configs = skinny_configs(problem, assumed_device("90"));
    CHECK(configs.size() > 100);
    for (const KernelConfig& config : configs) REQUIRE(why_invalid(problem, config, assumed_device("90")).value_or("") == "");
}

TEST_CASE("a skinny config that can't serve says why") {
    constexpr const char* kGood = "16x11008x4096 ops=nt";
    CHECK(why_not(kGood) == "");
    CHECK(contains(why_not(kGood, "", "89"), "compute capability 9.0"));
    CHECK(contains(why_not("16x11008x4096"), "ops=nt"));
    CHECK(contains(why_not("16x11008x4095 ops=nt"), "multiples of 16 bytes"));
    CHECK(contains(why_not("16x11008x4096 ops=nt align=8"), "multiples of 16 bytes"));
    CHECK(contains(why_not("16x11008x4096 ops=nt dtype=bf16"), "f32"));
    CHECK(contains(why_not(kGood, "block_m=24"), "1, 2 or 4 times thread_m"));
    CHECK(contains(why_not(kGood, "block_n=30"), "columns of a warp"));
    CHECK(contains(why_not(kGood, "block_n=266"), "at most 256"));
    CHECK(contains(why_not(kGood, "thread_m=4,thread_n=7"), "multiple of 8"));
    CHECK(contains(why_not(kGood, "block_k=96"), "32 * slice_k"));
    CHECK(contains(why_not(kGood, "stages=2"), "3 to 8"));
    CHECK(contains(why_not(kGood, "stages=8,block_k=256"), "bytes of shared memory"));
    CHECK(contains(why_not(kGood, "cluster=2,split_k=2"), "skinny does not use cluster"));
}

TEST_CASE("who asks for FP32 FMAs alone may be served by what skinny won as f32") {
    CHECK(keeps_promise(ComputeMode::f32_strict, ComputeMode::f32, parse_config(kConfig)));
}
