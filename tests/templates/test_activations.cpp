// Activations of single values, on the emulated device and on a GPU where there is one: how far they lie from the functions in double
// precision, far out in the tails as well, and what becomes of NaN and infinities. Each value is a product of one k.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "tests/support/api_testing.h"

using namespace api_testing;

namespace {

constexpr double kRoundoff = 0x1p-24;

struct Function {
    const char* name;
    tmmActivation_t activation;
    std::function<double(double)> exact;
    // How far the function's value may lie from the exact one, in parts of it, where |x| <= 5.
    double of_itself;
};

const std::vector<Function>& functions() {
    static const auto* all = new std::vector<Function>{
        {"relu", TMM_ACTIVATION_RELU, [](double x) { return x < 0 ? 0 : x; }, 1e-30},
        {"gelu", TMM_ACTIVATION_GELU, [](double x) { return x / 2 * std::erfc(-x * std::sqrt(0.5)); }, 4e-6},
        {"gelu_tanh", TMM_ACTIVATION_GELU_TANH,
         [](double x) { return x / (1 + std::exp(-2 * std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x))); }, 4e-6},
        {"silu", TMM_ACTIVATION_SILU, [](double x) { return x / (1 + std::exp(-x)); }, 4e-6},
        {"sigmoid", TMM_ACTIVATION_SIGMOID, [](double x) { return 1 / (1 + std::exp(-x)); }, 4e-6},
        {"tanh", TMM_ACTIVATION_TANH, [](double x) { return std::tanh(x); }, 4e-6},
    };
    return *all;
}

// activation(x) of each value, by a product of m x 1 by 1 x 1.
std::vector<float> activated(const Fixture& on, tmmActivation_t activation, const std::vector<float>& values) {
    const OnDevice a(on, values);
    const OnDevice b(on, {1.0f});
    const OnDevice c(on, std::vector<float>(values.size(), -7.0f));
    tmmGemmProblem_t problem;
    tmmGemmProblemInit(&problem);
    problem.m = static_cast<std::int64_t>(values.size());
    problem.n = problem.k = problem.lda = problem.ldb = problem.ldc = 1;
    problem.activation = activation;
    const float one = 1;
    tmmGemmArgs_t args = {};
    args.struct_size = sizeof args;
    args.alpha = &one;
    args.a = a.address();
    args.b = b.address();
    args.c = c.address();
    REQUIRE_MESSAGE(tmmGemm(on.handle, &problem, &args) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
    on.device->synchronize();
    return c.read();
}

}  // namespace

TEST_CASE("activations are within a few units in the last place of x, and near 0 within a few millionths of themselves") {
    std::vector<float> values;
    for (int i = -2500; i <= 2500; ++i) values.push_back(static_cast<float>(i) / 250);
    for (int i = 0; i < 60; ++i)
        for (const float sign : {-1.0f, 1.0f}) values.push_back(sign * std::ldexp(1.37f, 6 - 2 * i));
    for (const int ordinal : devices()) {
        const Fixture on(ordinal);
        for (const Function& function : functions()) {
            CAPTURE(std::string(function.name));
            const std::vector<float> got = activated(on, function.activation, values);
            for (std::size_t i = 0; i < values.size(); ++i) {
                const double x = values[i];
                const double exact = function.exact(x);
                const double error = std::fabs(got[i] - exact);
                // docs/epilogues.md has the bound; what is below the smallest normal float may count as 0.
                const double bound = 4 * kRoundoff * (std::fabs(x) + std::fabs(exact)) + kRoundoff * std::fabs(exact);
                CHECK_MESSAGE(error <= bound, fmt::format("{}({}) is {}, exactly {}", function.name, x, got[i], exact));
                if (std::fabs(x) <= 5)
                    CHECK_MESSAGE(error <= function.of_itself * std::fabs(exact) + 0x1p-126,
                                  fmt::format("{}({}) is {}, exactly {}", function.name, x, got[i], exact));
            }
        }
    }
}

TEST_CASE("activations of NaN and of infinities are what their formulas give") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> values = {std::nanf(""), infinity, -infinity, 0.0f, 3e38f, -3e38f};
    for (const int ordinal : devices()) {
        const Fixture on(ordinal);
        for (const Function& function : functions()) {
            CAPTURE(std::string(function.name));
            const std::vector<float> got = activated(on, function.activation, values);
            for (std::size_t i = 0; i < values.size(); ++i) {
                CAPTURE(values[i]);
                const double exact = function.exact(values[i]);
                if (std::isnan(exact))
                    CHECK(std::isnan(got[i]));
                else
                    CHECK((got[i] == exact || got[i] == doctest::Approx(exact)));
            }
        }
    }
}
