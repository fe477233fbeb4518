// Elementary functions that have the same bits on every machine: near to the C library's, and the bits themselves.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "host/portable_math.h"

using namespace tmm;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Function {
    const char* name;
    double (*ours)(double);
    double (*library)(double);
    // Arguments, and the largest relative error for those in units of 2^-53.
    double first, last;
    double units;
};

const Function kFunctions[] = {
    {"exp2", portable::exp2, std::exp2, -1022, 1024, 4},  {"exp", portable::exp, std::exp, -700, 700, 1500},
    {"exp", portable::exp, std::exp, -1, 1, 5},           {"expm1", portable::expm1, std::expm1, -3, 3, 10},
    {"log2", portable::log2, std::log2, 1e-3, 0.99, 100}, {"log2", portable::log2, std::log2, 1, 1e6, 5},
    {"log", portable::log, std::log, 1, 1e6, 5},          {"log1p", portable::log1p, std::log1p, -0.9, 3, 10},
    {"tanh", portable::tanh, std::tanh, -25, 25, 10},     {"erf", portable::erf, std::erf, -6, 6, 15},
    {"erfc", portable::erfc, std::erfc, -6, 1, 40},       {"erfc", portable::erfc, std::erfc, 1, 26, 4000},
};

double drawn(std::mt19937_64& random, double first, double last) {
    return first + (last - first) * (static_cast<double>(random() >> 11) * 0x1p-53);
}

void add_to(std::uint64_t& hash, double value) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
}

}  // namespace

TEST_CASE("elementary functions are within some units in the last place of the C library's") {
    std::mt19937_64 random(11);
    for (const Function& function : kFunctions) {
        CAPTURE(std::string(function.name));
        double worst = 0;
        double at = 0;
        for (int i = 0; i < 20'000; ++i) {
            const double x = drawn(random, function.first, function.last);
            const double error = std::fabs(function.ours(x) / function.library(x) - 1) * 0x1p53;
            if (error > worst) worst = error, at = x;
        }
        CHECK_MESSAGE(worst <= function.units, worst, " units at ", at);
    }
    for (int i = 0; i < 20'000; ++i) {
        const double x = drawn(random, 0, 1000), y = drawn(random, -7, 7);
        CHECK(std::fabs(portable::pow(x, y) / std::pow(x, y) - 1) <= 1e-13);
    }
}

TEST_CASE("powers of two are exact, and what has no finite value is what the C library says") {
    for (int exponent = -1022; exponent < 1024; ++exponent) {
        CHECK(portable::exp2(exponent) == std::ldexp(1.0, exponent));
        CHECK(portable::log2(std::ldexp(1.0, exponent)) == exponent);
    }
    CHECK(portable::log2(0x1p-1074) == -1074);
    CHECK(std::isfinite(portable::exp2(std::nextafter(1024.0, 0))));
    const double edges[] = {0.0, -0.0, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(), -1.0, -2.0, 1e300, -1e300};
    for (const double x : edges) {
        CAPTURE(x);
        const auto same = [](double ours, double library) {
            return std::isnan(library) ? std::isnan(ours) : std::fabs(ours - library) <= std::fabs(library) * 1e-15 || ours == library;
        };
        CHECK(same(portable::exp2(x), std::exp2(x)));
        CHECK(same(portable::exp(x), std::exp(x)));
        CHECK(same(portable::expm1(x), std::expm1(x)));
        CHECK(same(portable::log2(x), std::log2(x)));
        CHECK(same(portable::log1p(x), std::log1p(x)));
        CHECK(same(portable::tanh(x), std::tanh(x)));
        CHECK(same(portable::erf(x), std::erf(x)));
        CHECK(same(portable::erfc(x), std::erfc(x)));
        CHECK(std::signbit(portable::tanh(x)) == std::signbit(std::tanh(x)));
    }
    CHECK(portable::pow(0, 3.5) == 0);
    CHECK(portable::pow(0, 0) == 1);
}

// A C library's functions give other values on another CPU; these are held by this number, which was worked out on an x86-64 with and
// without fused multiply-adds and on 64-bit Arm.
TEST_CASE("the bits are the same on every machine") {
    std::mt19937_64 random(12);
    std::uint64_t hash = 0;
    for (int i = 0; i < 100'000; ++i) {
        const double fraction = drawn(random, 1, 2);
        add_to(hash, portable::log2(std::ldexp(fraction, static_cast<int>(random() % 2000) - 1000)));
        for (const Function& function : kFunctions) add_to(hash, function.ours(drawn(random, function.first, function.last)));
        const double x = drawn(random, 0, 1000);
        add_to(hash, portable::pow(x, drawn(random, -7, 7)));
    }
    CHECK(hash == 13459859790750743745U);
}
