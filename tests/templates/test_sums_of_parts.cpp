// Tests how the partial sums of parts of K are added up: what their sum loses, and which configs lose too much.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "generator/choice/search_space.h"
#include "generator/choice/validity.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/kernels/emulation_testing.h"

using namespace tmm;
using namespace emulation_testing;

namespace {

// Each thread adds up eight floats of its own.
std::vector<float> sums_of(const std::vector<float>& values) {
    static const CompiledKernel kernel = [] {
        const KernelSource source{.name = "test_kernel",
                                  .text = std::string("#include \"tmm/output/partial_sums.cuh\"\n") + kHead + R"(
extern "C" __global__ void test_kernel(const __grid_constant__ Args args) {
    tmm::Vector<float, 1> parts[8];
    for (int p = 0; p < 8; ++p) parts[p].element[0] = static_cast<const float*>(args.in)[threadIdx.x * 8 + p];
    static_cast<float*>(args.out)[threadIdx.x] = tmm::sum_of_parts(parts).element[0];
}
)",
                                  .entries = {{"test_kernel", "Args"}}};
        CompileResult result = make_host_compiler()->compile(source);
        if (const auto* failure = std::get_if<CompileFailure>(&result)) FAIL(failure->log);
        return std::get<CompiledKernel>(std::move(result));
    }();
    const std::size_t count = values.size() / 8;
    return results<float>(kernel, "ascending", {.threads = static_cast<int>(count)}, count, values.data());
}

KernelConfig cluster_of(int blocks) {
    return {.family = family::simt,
            .block_m = 32,
            .block_n = 64,
            .block_k = 8,
            .thread_m = 4,
            .thread_n = 4,
            .stages = 3,
            .async_copy = 1,
            .vector_width = 4,
            .boundary = boundary::peeled,
            .split_k = blocks,
            .min_blocks = 2,
            .cluster = blocks};
}

}  // namespace

TEST_CASE("eight parts are added up as if with one rounding, and infinity and NaN stay what they are") {
    constexpr float tiny = 0x1p-24f;
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float largest = std::numeric_limits<float>::max();
    const std::vector<float> sums = sums_of({
        // When the values are added one after the other, each of the small ones is lost.
        1,        tiny,      tiny,  tiny,  tiny, tiny, tiny, tiny,                                     //
        1e8f,     3,         -1e8f, 0.25f, 0,    0,    0,    0,                                        //
        1,        infinity,  2,     3,     4,    5,    6,    7,                                        //
        infinity, -infinity, 0,     0,     0,    0,    0,    0,                                        //
        largest,  largest,   0,     0,     0,    0,    0,    0,                                        //
        1,        2,         3,     4,     5,    6,    7,    std::numeric_limits<float>::quiet_NaN(),  //
    });
    CHECK(sums[0] == 1 + 0x1p-21f);
    CHECK(sums[1] == 3.25f);
    CHECK(sums[2] == infinity);
    CHECK(std::isnan(sums[3]));
    CHECK(sums[4] == infinity);
    CHECK(std::isnan(sums[5]));
}

TEST_CASE("parts of K that are too short for their number are valid, but no candidates for FP32 products") {
    const DeviceInfo device = assumed_device("90");
    const auto problem = [](const char* text) { return parse_shape(text).problem; };
    CHECK_FALSE(why_invalid(problem("512x512x64"), cluster_of(8), device));
    const auto reason = rejection_reason(problem("512x512x64"), cluster_of(8), device);
    REQUIRE(reason);
    CHECK(*reason == "parts of K are so shallow that they err more than a loop of FMAs (8 parts of 8, which must be 16 deep)");
    CHECK(rejection_reason(problem("512x512x64 compute=f32_strict"), cluster_of(8), device));
    CHECK_FALSE(rejection_reason(problem("512x512x128"), cluster_of(8), device));
    CHECK_FALSE(rejection_reason(problem("512x512x64"), cluster_of(2), device));
    // A product of 16-bit operands is shorter than its sum, so that rounding it is no matter.
    const KernelConfig shared = parse_config("family=gemv,block_m=4,block_n=64,block_k=32,thread_n=4,vector_width=4,boundary=peeled");
    CHECK(rejection_reason(problem("4x512x8"), shared, device).value_or("").find("where K is small") != std::string::npos);
    CHECK_FALSE(rejection_reason(problem("4x512x8 dtype=bf16"), shared, device));
    // The same parts through the workspace are added up plainly, by `reduce`.
    KernelConfig through_workspace = cluster_of(8);
    through_workspace.cluster = 1;
    CHECK(rejection_reason(problem("512x512x256"), through_workspace, device));
    CHECK_FALSE(rejection_reason(problem("512x512x512"), through_workspace, device));

    for (const KernelConfig& candidate : search_space(problem("512x512x64"), device, Effort::normal).candidates)
        CHECK_FALSE(rejection_reason(problem("512x512x64"), candidate, device));
}
