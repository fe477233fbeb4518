// Tests which bits of a float the tensor cores of a Hopper GPU use: the rule that wgmma.cuh and tmm.h state. Each element of C is one
// product among zeros; the product of two numbers of 11 digits is exact, so that C says which 11 digits were taken, and of which element.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "generator/validity/validity.h"
#include "runtime/executable_plan.h"

using namespace tmm;

namespace {

constexpr std::uint32_t kIgnored = 0x1fff;

float taken(float value) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & ~kIgnored);
}

DeviceBuffer on_device(const std::shared_ptr<Device>& device, const std::vector<float>& values) {
    DeviceBuffer buffer(device, values.size() * sizeof(float));
    device->copy_to_device(buffer.data(), values.data(), buffer.bytes());
    return buffer;
}

}  // namespace

TEST_CASE("tensor cores take the sign, the exponent and ten bits of fraction of a float") {
    if (gpu_count() == 0) {
        MESSAGE("skipped: no GPU");
        return;
    }
    const auto device = open_device(0);
    if (device->info().compute_capability() != 90) {
        MESSAGE("skipped: TF32 is multiplied on compute capability 9.0 only");
        return;
    }
    const auto directory = std::filesystem::temp_directory_path() / fmt::format("tmm-gpu-tf32-{}", getpid());
    KernelLoader loader(device, make_compiler(device->info()), KernelCache(directory));
    std::mt19937 random(5);
    const std::string tile = "family=wgmma,vector_width=8,boundary=hardware,stages=2,";
    struct Run {
        const char* ops;
        const char* config;
    };
    for (const auto& [ops, config_text] :
         {Run{"nt", "block_m=64,block_n=64,block_k=32"}, Run{"nt", "block_m=128,block_n=96,block_k=64,warps_m=2,swap_ab=1"},
          Run{"nn", "block_m=64,block_n=64,block_k=32,swap_ab=1"}, Run{"nn", "block_m=256,block_n=40,block_k=64,warps_m=2,swap_ab=1"},
          Run{"nn", "block_m=128,block_n=128,block_k=32,warps_m=2,swap_ab=1,multicast_a=2"},
          Run{"nn", "block_m=128,block_n=128,block_k=32,warps_m=2,swap_ab=1,multicast_b=2"},
          Run{"nn", "block_m=64,block_n=64,block_k=32,pack_ab=2"}, Run{"tt", "block_m=128,block_n=64,block_k=32"},
          Run{"tt", "block_m=64,block_n=96,block_k=64,warps_n=2"}, Run{"tt", "block_m=128,block_n=128,block_k=32,warps_m=2,multicast_a=2"},
          Run{"tn", "block_m=64,block_n=64,block_k=32,pack_ab=2"}, Run{"tn", "block_m=64,block_n=64,block_k=32,swap_ab=1,pack_ab=1"}}) {
        CAPTURE(ops);
        CAPTURE(config_text);
        const GemmProblem p = parse_shape(std::string("232x168x104 compute=tf32 ops=") + ops).problem;
        const KernelConfig config = parse_config(tile + config_text);
        REQUIRE(why_invalid(p, config, device->info()).value_or("") == "");
        // In row i of op(A) only column place(i) is not zero.
        const auto place = [&](i64 i) { return i * 37 % p.k; };
        const auto value = [&] {
            const std::uint32_t bits = static_cast<std::uint32_t>(random());
            // The exponents are about 0.
            return std::bit_cast<float>((bits & 0x807fffff) | (0x3c000000 + (bits >> 24 & 7) * 0x800000));
        };
        std::vector<float> a(static_cast<std::size_t>(stored_rows_a(p) * p.lda));
        std::vector<float> b(static_cast<std::size_t>(stored_rows_b(p) * p.ldb));
        const auto at_a = [&](i64 i, i64 k) -> float& {
            return a.at(static_cast<std::size_t>(ops[0] == 'n' ? i * p.lda + k : k * p.lda + i));
        };
        const auto at_b = [&](i64 k, i64 j) -> float& {
            return b.at(static_cast<std::size_t>(ops[1] == 'n' ? k * p.ldb + j : j * p.ldb + k));
        };
        for (i64 i = 0; i < p.m; ++i) at_a(i, place(i)) = value();
        for (i64 k = 0; k < p.k; ++k)
            for (i64 j = 0; j < p.n; ++j) at_b(k, j) = value();
        // In the first all ignored bits are ones; the second is a NaN that has no other bits.
        at_a(3, place(3)) = std::bit_cast<float>(0x3fffffffU);
        at_a(5, place(5)) = std::bit_cast<float>(0x7f800001U);
        const i64 nan_row = 5;

        const DeviceBuffer device_a = on_device(device, a);
        const DeviceBuffer device_b = on_device(device, b);
        const DeviceBuffer device_c = on_device(device, std::vector<float>(static_cast<std::size_t>(p.m * p.ldc), NAN));
        auto made = ExecutablePlan::make(make_launch_plan(p, config, device->info()), loader);
        if (const auto* failure = std::get_if<CompileFailure>(&made)) FAIL(failure->log);
        const auto& plan = std::get<ExecutablePlan>(made);
        const DeviceBuffer workspace(device, static_cast<std::size_t>(plan.plan().workspace_bytes) + 1);
        plan.run({.a = device_a.data(), .b = device_b.data(), .c = device_c.data(), .workspace = workspace.data()}, nullptr);
        std::vector<float> c(static_cast<std::size_t>(p.m * p.ldc));
        device->copy_to_host(c.data(), device_c.data(), device_c.bytes());

        int wrong = 0;
        std::string first;
        int not_infinite = 0;
        for (i64 i = 0; i < p.m; ++i) {
            for (i64 j = 0; j < p.n; ++j) {
                const float result = c[static_cast<std::size_t>(i * p.ldc + j)];
                if (i == nan_row) {
                    not_infinite += std::isinf(result) ? 0 : 1;
                    continue;
                }
                const float expected = taken(at_a(i, place(i))) * taken(at_b(place(i), j));
                if (result != expected && wrong++ == 0)
                    first = fmt::format("C[{}][{}] = {:a}, expected {:a} of {:a} and {:a}", i, j, result, expected, at_a(i, place(i)),
                                        at_b(place(i), j));
            }
        }
        CHECK_MESSAGE(wrong == 0, first);
        CHECK(not_infinite == 0);
    }
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
}
