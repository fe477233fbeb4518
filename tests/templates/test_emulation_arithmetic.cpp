// Arithmetic of kernels on the emulated device: it rounds as a GPU does.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "generator/problem/number_codec.h"
#include "tests/support/kernels/emulation_testing.h"

using namespace tmm;
using namespace emulation_testing;

TEST_CASE("fused multiply-adds have one rounding, and nothing else is fused") {
    const auto kernel = compiled(R"(
        const float* x = static_cast<const float*>(args.in) + threadIdx.x * 3;
        float* out = static_cast<float*>(args.out) + threadIdx.x * 3;
        out[0] = fmaf(x[0], x[1], x[2]);
        out[1] = __fmaf_rn(x[0], x[1], x[2]);
        out[2] = x[0] * x[1] + x[2];
    )");
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> in(3 * 1024);
    for (float& value : in) value = normal(random);
    in[0] = 1 + 0x1p-12f;
    in[1] = 1 + 0x1p-12f;
    in[2] = -1;
    in[3] = 0x1p-100f;  // the product is below the smallest denormal
    in[4] = 0x1p-60f;
    in[5] = 1;
    const auto out = results<float>(kernel, "ascending", {.threads = 1024}, 3 * 1024, in.data());
    for (std::size_t i = 0; i < 1024; ++i) {
        const float expected = std::fma(in[3 * i], in[3 * i + 1], in[3 * i + 2]);
        CHECK(std::memcmp(&out[3 * i], &expected, 4) == 0);
        CHECK(std::memcmp(&out[3 * i + 1], &expected, 4) == 0);
        volatile float product = in[3 * i] * in[3 * i + 1];
        const float separate = product + in[3 * i + 2];
        CHECK(std::memcmp(&out[3 * i + 2], &separate, 4) == 0);
    }
    CHECK(out[0] == 0x1p-11f + 0x1p-24f);
    CHECK(out[2] == 0x1p-11f);
}

TEST_CASE("16-bit numbers become floats, and floats 16-bit numbers, as IEEE 754 rounds them") {
    constexpr std::size_t kNumbers = 1 << 16;
    std::vector<std::uint16_t> all(kNumbers);
    for (std::size_t i = 0; i < kNumbers; ++i) all[i] = static_cast<std::uint16_t>(i);
    const auto widened = [&](const char* type) {
        const auto kernel = compiled(fmt::format(R"(
            for (int i = threadIdx.x; i < args.n; i += blockDim.x)
                static_cast<float*>(args.out)[i] = tmm::to_float(tmm::{}{{static_cast<const unsigned short*>(args.in)[i]}});
        )",
                                                 type));
        return results<float>(kernel, kOrders[0], {}, kNumbers, all.data(), nullptr, kNumbers);
    };
    const auto same = [](float x, float y) {
        return std::isnan(x) ? std::isnan(y) : std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
    };
    const std::vector<float> from_f16 = widened("Half");
    const std::vector<float> from_bf16 = widened("Bfloat16");
    int wrong = 0;
    for (std::size_t i = 0; i < kNumbers; ++i) {
        wrong += !same(from_f16[i], static_cast<float>(decoded(ElementType::f16, all[i])));
        wrong += std::bit_cast<std::uint32_t>(from_bf16[i]) != static_cast<std::uint32_t>(i) << 16;
    }
    CHECK(wrong == 0);

    // The numbers are every f16 and bf16, those halfway to the next and a float to either side of both, and any floats.
    std::vector<float> wide;
    for (const std::vector<float>* numbers : {&from_f16, &from_bf16}) {
        for (std::size_t i = 0; i + 1 < kNumbers; ++i) {
            const auto bits = std::bit_cast<std::uint32_t>((*numbers)[i]);
            const std::uint32_t half = numbers == &from_f16 ? 0x1000 : 0x8000;
            for (const std::uint32_t beside : {bits - 1, bits, bits + 1, bits + half - 1, bits + half, bits + half + 1})
                wide.push_back(std::bit_cast<float>(beside));
            // f16's subnormals have other distances.
            const float next = (*numbers)[i + 1];
            if (std::isfinite(next) && std::fabs(next) < 1) wide.push_back(((*numbers)[i] + next) / 2);
        }
    }
    std::mt19937 random(3);
    for (int i = 0; i < 200000; ++i) wide.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    for (const float value : {65504.0f, 65519.996f, 65520.0f, 65536.0f, 1e30f, 3.4e38f}) wide.insert(wide.end(), {value, -value});
    const auto narrowed = [&](const char* type) {
        const auto kernel = compiled(fmt::format(R"(
            for (int i = threadIdx.x; i < args.n; i += blockDim.x)
                static_cast<unsigned short*>(args.out)[i] = tmm::from_float<tmm::{}>(static_cast<const float*>(args.in)[i]).bits;
        )",
                                                 type));
        return results<std::uint16_t>(kernel, kOrders[0], {}, wide.size(), wide.data(), nullptr, static_cast<int>(wide.size()));
    };
    const std::vector<std::uint16_t> f16 = narrowed("Half");
    const std::vector<std::uint16_t> bf16 = narrowed("Bfloat16");
    int ties = 0;
    for (std::size_t i = 0; i < wide.size(); ++i) {
        const auto bits = std::bit_cast<std::uint32_t>(wide[i]);
        if (std::isnan(wide[i])) {
            // The one NaN that PTX makes.
            wrong += f16[i] != 0x7fff || bf16[i] != 0x7fff;
            continue;
        }
        wrong += f16[i] != encoded(ElementType::f16, wide[i]);
        // The nearer of the two neighbours, or the even one; infinity counts as the number that would come after the largest.
        const std::uint32_t below = bits >> 16;
        const auto distance = [&](std::uint32_t upper_half) {
            const std::uint32_t magnitude = upper_half & 0x7fff;
            const double value = magnitude == 0x7f80 ? 0x1p128 : static_cast<double>(std::bit_cast<float>(magnitude << 16));
            return std::fabs(value - static_cast<double>(std::fabs(wide[i])));
        };
        std::uint32_t expected = below;
        if ((bits & 0xffff) != 0) {
            const double down = distance(below);
            const double up = distance(below + 1);
            ties += down == up;
            expected = up < down || (up == down && (below & 1) != 0) ? below + 1 : below;
        }
        wrong += bf16[i] != expected;
    }
    CHECK(ties > 1000);
    CHECK(wrong == 0);
}

TEST_CASE("the larger and the smaller of two floats are PTX's: -0 is below 0, and a number goes before NaN") {
    const auto kernel = compiled(R"(
        const float* x = static_cast<const float*>(args.in);
        for (int i = 0; i < args.n; ++i) {
            for (int j = 0; j < args.n; ++j) {
                static_cast<float*>(args.out)[2 * (i * args.n + j)] = fmaxf(x[i], x[j]);
                static_cast<float*>(args.out)[2 * (i * args.n + j) + 1] = fminf(x[i], x[j]);
            }
        }
    )");
    // In ascending order.
    const std::vector<float> in = {-INFINITY, -1, -0x1p-149f, -0.0f, 0.0f, 1, INFINITY, NAN};
    const auto out =
        results<float>(kernel, kOrders[0], {.threads = 1}, 2 * in.size() * in.size(), in.data(), nullptr, static_cast<int>(in.size()));
    const std::size_t last = in.size() - 1;
    for (std::size_t i = 0; i <= last; ++i) {
        for (std::size_t j = 0; j <= last; ++j) {
            CAPTURE(in[i]);
            CAPTURE(in[j]);
            const std::size_t number = std::min(i, j);
            const float larger = in[std::max(i, j) == last ? number : std::max(i, j)];
            CHECK(std::memcmp(&out[2 * (i * in.size() + j)], &larger, 4) == 0);
            CHECK(std::memcmp(&out[2 * (i * in.size() + j) + 1], &in[number], 4) == 0);
        }
    }
}

// C libraries' functions give other values on other CPUs. This number was the same on an x86-64 with and without fused multiply-adds and on
// 64-bit Arm.
TEST_CASE("a kernel's mathematical functions have the same bits on every machine") {
    const auto kernel = compiled(R"(
        auto* out = static_cast<unsigned long long*>(args.out);
        const auto add = [&](double value) {
            unsigned long long bits = value != value ? 0 : tmm::host::same_bits<unsigned long long>(value);
            *out = (*out ^ bits) * 0x9e3779b97f4a7c15ull;
            *out ^= *out >> 29;
        };
        for (int i = 0; i < args.n; ++i) {
            const float x = static_cast<const float*>(args.in)[i];
            const float y = static_cast<const float*>(args.in)[(i + 1) % args.n];
            const float singles[] = {expf(x),   exp2f(x),  logf(x),        log2f(x),         log1pf(x),        expm1f(x),
                                     tanhf(x),  erff(x),   erfcf(x),       sinf(x),          cosf(x),          powf(fabsf(x), y),
                                     rintf(x),  floorf(x), sqrtf(fabsf(x)), rsqrtf(fabsf(x)), fmodf(x, y),      fmaf(x, y, x),
                                     x * y + x, x / y,     fmaxf(x, y),    fminf(x, y),      tmm::ptx::ex2_approx(x), tmm::ptx::rcp_approx(x)};
            const double wide = x;
            const double doubles[] = {exp(wide), tanh(wide), erfc(wide)};
            for (const float value : singles) add(value);
            for (const double value : doubles) add(value);
        }
    )");
    std::mt19937 random(8);
    std::vector<float> in = {0, -0.0f, 1, -1, 88, 89, -104, 1e-30f, 1e10f, 1e30f, INFINITY, -INFINITY, NAN};
    while (in.size() < 20'000) in.push_back((static_cast<float>(random() >> 8) * 0x1p-24f - 0.5f) * (in.size() % 2 == 0 ? 4.0f : 60.0f));
    const auto hash = results<std::uint64_t>(kernel, kOrders[0], {.threads = 1}, 1, in.data(), nullptr, static_cast<int>(in.size()));
    CHECK(hash[0] == 17217780600149471852U);
}
