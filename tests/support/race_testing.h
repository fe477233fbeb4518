// Plans that measure where an untuned epilogue is applied, on any device: whether the result is right, and whether what is said of the
// times is what was chosen by them.
#pragma once

#include <cmath>
#include <regex>
#include <string>

#include "tests/support/api_testing.h"
#include "tmm/tmm.hpp"

namespace race_testing {

// A product with bias and relu, or with an expression over all of an expression's names but the residual.
struct Raced {
    api_testing::Product product;
    bool has_expression = false;
};

inline constexpr const char* kExpression = "fmaxf(x * p0 + bias, p1) + 2 * row - column + batch";

inline double expected(const Raced& raced, double x, double bias, std::int64_t row, std::int64_t column) {
    if (!raced.has_expression) return std::fmax(x + bias, 0);
    return std::fmax(x * 0.5 + bias, -8) + 2.0 * static_cast<double>(row) - static_cast<double>(column);
}

// What a plan says of its race.
struct Told {
    double kernel_us = 0;
    double step_us = 0;
    std::string config_before_step;
    bool is_step = false;
    // The plan's own lines.
    std::string config;
    double measured_us = 0;
};

// There is no race where kernel_us is 0.
inline Told told_by(const std::string& description) {
    static const auto* const race = new std::regex(
        "measured with the plan: ([0-9.]+) µs with the epilogue in the kernel, ([0-9.]+) µs with a step behind ([^,]+), so the "
        "(step|kernel) applies it");
    static const auto* const config = new std::regex("config: ([^\n]+)");
    static const auto* const measured = new std::regex("measured: ([0-9.e+]+)");
    Told told;
    std::smatch found;
    if (!std::regex_search(description, found, *race)) return told;
    told.kernel_us = std::stod(found[1]);
    told.step_us = std::stod(found[2]);
    told.config_before_step = found[3];
    told.is_step = found[4] == "step";
    if (std::regex_search(description, found, *config)) told.config = found[1];
    if (std::regex_search(description, found, *measured)) told.measured_us = std::stod(found[1]);
    return told;
}

inline std::vector<float> whole_values(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(random() % 3) - 1;
    return values;
}

// Runs the plan once, and compares each element with its sum in double precision; whole numbers have exact sums.
inline std::string wrong_element(const api_testing::Fixture& on, const tmm::Plan& plan, const Raced& raced) {
    const api_testing::Product& p = raced.product;
    const std::vector<float> a = whole_values(p.size_a(), 1), b = whole_values(p.size_b(), 2);
    const std::vector<float> bias = whole_values(static_cast<std::size_t>(p.n), 3);
    const api_testing::OnDevice da(on, a, 0, p.type), db(on, b, 0, p.type), dbias(on, bias);
    const api_testing::OnDevice dc(on, std::vector<float>(p.size_c(), NAN), 0, p.type_c);
    tmmGemmArgs_t args = api_testing::args_of(p, da.address(), db.address(), dc.address());
    args.bias = dbias.address();
    args.parameters[0] = raced.has_expression ? 0.5F : 0;
    args.parameters[1] = raced.has_expression ? -8 : 0;
    plan.run(args);
    on.device->synchronize();
    const std::vector<float> c = dc.read();
    // The result is rounded once, by half a unit in the last place of C's type at most.
    const double unit = p.type_c == TMM_F32 ? 0 : p.type_c == TMM_F16 ? 0x1p-11 : 0x1p-8;
    for (std::int64_t i = 0; i < p.m; ++i)
        for (std::int64_t j = 0; j < p.n; ++j) {
            float sum = 0;
            for (std::int64_t k = 0; k < p.k; ++k) sum += a[p.at_a(i, k)] * b[p.at_b(k, j)];
            const double value = expected(raced, sum, bias[static_cast<std::size_t>(j)], i, j);
            const double got = c[p.at_c(i, j)];
            if (!(std::abs(got - value) <= unit * std::abs(value)))
                return "C(" + std::to_string(i) + ", " + std::to_string(j) + ") = " + std::to_string(got) + ", expected " +
                       std::to_string(value);
        }
    return "";
}

// Makes the problem's plan with and without a race.
inline void check_race(int ordinal, const Raced& raced) {
    const api_testing::Fixture on(ordinal);
    tmm::Handle handle(ordinal, on.scratch.file("none.db"));
    tmmGemmProblem_t problem = api_testing::problem_of(raced.product);
    problem.has_bias = 1;
    if (raced.has_expression) {
        problem.epilogue = TMM_EPILOGUE_CUSTOM;
        problem.expression = kExpression;
    } else {
        problem.activation = TMM_ACTIVATION_RELU;
    }
    CHECK(told_by(handle.plan(problem).describe()).kernel_us == 0);
    handle.set_tuning(true);
    const tmm::Plan plan = handle.plan(problem);
    const std::string description = plan.describe();
    CAPTURE(description);
    const Told told = told_by(description);
    const std::string what = raced.product.text() + (raced.has_expression ? ", expression: " : ", bias and relu: ");
    MESSAGE(what << told.kernel_us << " µs in the kernel, " << told.step_us << " in a step");
    REQUIRE(told.kernel_us > 0);
    REQUIRE(told.step_us > 0);
    // The step must be faster by 2%; the text has four digits of each.
    if (told.is_step)
        CHECK(told.step_us < 0.981 * told.kernel_us);
    else
        CHECK(told.step_us > 0.979 * told.kernel_us);
    CHECK(told.measured_us == doctest::Approx(told.is_step ? told.step_us : told.kernel_us).epsilon(0.001));
    if (told.is_step) CHECK(told.config == told.config_before_step);
    CHECK(wrong_element(on, plan, raced) == "");
    // What was measured is kept.
    CHECK(handle.plan(problem).describe() == description);
}

}  // namespace race_testing
