// Each element of C is one product among zeros. The product of two numbers of 11 digits is exact, so that C says to which numbers its
// factors were rounded.
#include "tests/support/kernels/tf32_rounding.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <variant>

#include "generator/choice/validity.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"

namespace tmm::testing {
namespace {

constexpr std::uint32_t kLowNan = 0x7f800001;
constexpr std::uint32_t kSpecial[] = {
    // Ties, to an even number below and above, of either sign, and what lies beside a tie.
    0x3f801000, 0x3f803000, 0xbf801000, 0xbf803000, 0x3f800fff, 0x3f801001, 0x3f802fff, 0x3f803001,
    // Carries into the exponent.
    0x3fffffff, 0x3ffff000, 0x3fffefff,
    // The largest number of TF32, what is rounded to it, and what is beyond.
    0x7f7fe000, 0x7f7fefff, 0x7f7ff000, 0x7f7fffff, 0xff7fffff,
    // Subnormal numbers: ties, one that is rounded to zero, and one that becomes normal.
    0x00001000, 0x00003000, 0x80003000, 0x00000fff, 0x007fffff, 0x00400000,
    // Zeros, infinities, and NaNs, two of which have ones in the lower 13 bits only.
    0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffffffff, kLowNan, 0xff801fff};

bool is_low_nan(float value) {
    return std::isnan(value) && (std::bit_cast<std::uint32_t>(value) & 0x007fe000) == 0;
}

// The nearest number with 11 binary digits and a float's exponents, ties to even.
float nearest_tf32(float value) {
    if (!std::isfinite(value) || value == 0) return value;
    int exponent = 0;
    std::frexp(value, &exponent);
    const double step = std::ldexp(1.0, std::max(exponent - 11, -136));
    return static_cast<float>(std::nearbyint(static_cast<double>(value) / step) * step);
}

DeviceBuffer on_device(const std::shared_ptr<Device>& device, const std::vector<float>& values) {
    DeviceBuffer buffer(device, values.size() * sizeof(float));
    device->copy_to_device(buffer.data(), values.data(), buffer.bytes());
    return buffer;
}

// op(A) has one element that is not zero in each row, in another column than the rows beside it have theirs.
struct Operands {
    Operands(const GemmProblem& problem, const char* operations)
        : p(problem),
          ops(operations),
          a(static_cast<std::size_t>(stored_rows_a(p) * p.lda)),
          b(static_cast<std::size_t>(stored_rows_b(p) * p.ldb)) {
        std::mt19937 random(5);
        const auto value = [&] {
            const auto bits = static_cast<std::uint32_t>(random());
            return std::bit_cast<float>((bits & 0x807fffff) | (0x3b800000 + (bits >> 24 & 7) * 0x800000));
        };
        for (i64 i = 0; i < p.m; ++i) at_a(i, place(i)) = value();
        for (i64 k = 0; k < p.k; ++k)
            for (i64 j = 0; j < p.n; ++j) at_b(k, j) = value() * (j % 4 == 3 ? 0x1p100F : 1.0F);
        i64 line = 1;
        for (const std::uint32_t bits : kSpecial) {
            at_a(line, place(line)) = std::bit_cast<float>(bits);
            // It meets the row before that one.
            at_b(place(line - 1), line) = std::bit_cast<float>(bits);
            line += 2;
        }
        REQUIRE(line <= std::min(p.m, p.n));
    }
    i64 place(i64 i) const { return i * 37 % p.k; }
    float& at_a(i64 i, i64 k) { return a.at(static_cast<std::size_t>(ops[0] == 'n' ? i * p.lda + k : k * p.lda + i)); }
    float& at_b(i64 k, i64 j) { return b.at(static_cast<std::size_t>(ops[1] == 'n' ? k * p.ldb + j : j * p.ldb + k)); }

    GemmProblem p;
    const char* ops;
    std::vector<float> a;
    std::vector<float> b;
};

std::vector<float> product(KernelLoader& loader, const Operands& operands, const LaunchPlan& launch_plan) {
    const GemmProblem& p = operands.p;
    const std::shared_ptr<Device>& device = loader.device();
    const DeviceBuffer device_a = on_device(device, operands.a);
    const DeviceBuffer device_b = on_device(device, operands.b);
    std::vector<float> c(static_cast<std::size_t>(p.m * p.ldc), 77.0F);
    const DeviceBuffer device_c = on_device(device, c);
    auto made = ExecutablePlan::make(launch_plan, loader);
    if (const auto* failure = std::get_if<CompileFailure>(&made)) FAIL(failure->log);
    const auto& plan = std::get<ExecutablePlan>(made);
    const DeviceBuffer workspace(device, static_cast<std::size_t>(plan.plan().workspace_bytes) + 1);
    plan.run({.a = device_a.data(), .b = device_b.data(), .c = device_c.data(), .workspace = workspace.data()}, nullptr);
    device->copy_to_host(c.data(), device_c.data(), device_c.bytes());
    return c;
}

}  // namespace

const std::vector<Tf32Case>& tf32_cases() {
    static const std::vector<Tf32Case> cases = {{"nt", "block_m=64,block_n=64,block_k=32"},
                                                {"nn", "block_m=64,block_n=64,block_k=32,swap_ab=1"},
                                                {"tn", "block_m=64,block_n=64,block_k=32,pack_ab=2"},
                                                {"tt", "block_m=128,block_n=64,block_k=32"},
                                                {"nt", "block_m=128,block_n=96,block_k=64,warps_m=2,swap_ab=1"},
                                                {"nn", "block_m=256,block_n=40,block_k=64,warps_m=2,swap_ab=1"},
                                                {"nn", "block_m=128,block_n=128,block_k=32,warps_m=2,swap_ab=1,multicast_a=2"},
                                                {"nn", "block_m=128,block_n=128,block_k=32,warps_m=2,swap_ab=1,multicast_b=2"},
                                                {"nn", "block_m=64,block_n=64,block_k=32,pack_ab=2"},
                                                {"tt", "block_m=64,block_n=96,block_k=64,warps_n=2"},
                                                {"tt", "block_m=128,block_n=128,block_k=32,warps_m=2,multicast_a=2"},
                                                {"tn", "block_m=64,block_n=64,block_k=32,swap_ab=1,pack_ab=1"}};
    return cases;
}

Tf32Rounding tf32_rounding(KernelLoader& loader, const DeviceInfo& device, const std::string& sizes, const Tf32Case& one) {
    const GemmProblem p = parse_shape(fmt::format("{} compute=tf32 ops={}", sizes, one.ops)).problem;
    const KernelConfig config = parse_config(fmt::format("family=wgmma,vector_width=8,boundary=hardware,stages=2,{}", one.config));
    REQUIRE(why_invalid(p, config, device).value_or("") == "");
    Operands operands(p, one.ops);
    const std::vector<float> c = product(loader, operands, make_launch_plan(p, config, device));

    Tf32Rounding found;
    for (i64 i = 0; i < p.m; ++i) {
        for (i64 j = 0; j < p.n; ++j) {
            double exact = 0;
            bool of_low_nan = false;
            for (i64 k = 0; k < p.k; ++k) {
                const float x = operands.at_a(i, k);
                const float y = operands.at_b(k, j);
                of_low_nan = of_low_nan || is_low_nan(x) || is_low_nan(y);
                exact += static_cast<double>(nearest_tf32(x)) * static_cast<double>(nearest_tf32(y));
            }
            // A product that is no float says nothing of its factors.
            const auto expected = static_cast<float>(exact);
            if (static_cast<double>(expected) != exact && !std::isnan(exact)) continue;
            const float result = c[static_cast<std::size_t>(i * p.ldc + j)];
            if (result == expected || (std::isnan(result) && std::isnan(expected))) continue;
            std::string& text = of_low_nan ? found.wrong_nans : found.wrong;
            if (text.empty())
                text = fmt::format("C[{}][{}] = {:a}, expected {:a} of {:a} (bits {:08x}) and {:a} (bits {:08x})", i, j, result, expected,
                                   operands.at_a(i, operands.place(i)), std::bit_cast<std::uint32_t>(operands.at_a(i, operands.place(i))),
                                   operands.at_b(operands.place(i), j), std::bit_cast<std::uint32_t>(operands.at_b(operands.place(i), j)));
        }
    }
    return found;
}

}  // namespace tmm::testing
