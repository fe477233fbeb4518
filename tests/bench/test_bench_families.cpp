// The families of inputs that accuracy is measured on have the properties that they are chosen for.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "bench/accuracy/input_family.h"

using namespace tmm;
using namespace tmm::bench;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

GemmProblem problem(i64 m, i64 n, i64 k) {
    return GemmProblem{.m = m, .n = n, .k = k, .lda = k, .ldb = n, .ldc = n};
}

std::vector<float> all_a(InputFamily family, const GemmProblem& p) {
    std::vector<float> values(static_cast<std::size_t>(p.m * p.k));
    fill_a(family, p, values);
    return values;
}
std::vector<float> all_b(InputFamily family, const GemmProblem& p) {
    std::vector<float> values(static_cast<std::size_t>(p.k * p.n));
    fill_b(family, p, values);
    return values;
}

double mean_power(const std::vector<float>& values, int power) {
    double sum = 0;
    for (const float value : values) sum += std::pow(static_cast<double>(value), power);
    return sum / static_cast<double>(values.size());
}

// The fraction of the values whose last bit of the significand is set.
double odd_part(const std::vector<float>& values) {
    const auto odd = [](float value) { return (std::bit_cast<unsigned>(value) & 1) != 0; };
    return static_cast<double>(std::count_if(values.begin(), values.end(), odd)) / static_cast<double>(values.size());
}

double product(InputFamily family, const GemmProblem& p, i64 row, i64 column, bool absolute = false) {
    double sum = 0;
    for (i64 k = 0; k < p.k; ++k) {
        const double term = static_cast<double>(value_a(family, p, 0, row, k)) * value_b(family, p, 0, k, column);
        sum += absolute ? std::fabs(term) : term;
    }
    return sum;
}

}  // namespace

TEST_CASE("uniform, normal and positive values are distributed as they say") {
    const GemmProblem p = problem(200, 200, 200);
    for (const std::vector<float>& values : {all_a(InputFamily::uniform, p), all_b(InputFamily::uniform, p)}) {
        CHECK(*std::min_element(values.begin(), values.end()) >= -1);
        CHECK(*std::max_element(values.begin(), values.end()) <= 1);
        CHECK(std::fabs(mean_power(values, 1)) < 0.01);
        CHECK(mean_power(values, 2) == doctest::Approx(1.0 / 3).epsilon(0.02));
    }
    for (const std::vector<float>& values : {all_a(InputFamily::normal, p), all_b(InputFamily::normal, p)}) {
        CHECK(std::fabs(mean_power(values, 1)) < 0.02);
        CHECK(mean_power(values, 2) == doctest::Approx(1).epsilon(0.02));
        CHECK(mean_power(values, 4) == doctest::Approx(3).epsilon(0.06));
    }
    for (const std::vector<float>& values : {all_a(InputFamily::positive, p), all_b(InputFamily::positive, p)}) {
        CHECK(*std::min_element(values.begin(), values.end()) >= 0);
        CHECK(*std::max_element(values.begin(), values.end()) <= 1);
        CHECK(mean_power(values, 1) == doctest::Approx(0.5).epsilon(0.01));
    }
    CHECK(all_a(InputFamily::uniform, p) != all_b(InputFamily::uniform, p));
}

TEST_CASE("significands have all their bits, so that no split into a few shorter numbers is exact by chance") {
    const GemmProblem p = problem(100, 100, 100);
    for (const InputFamily family : kInputFamilies) {
        CAPTURE(name_of(family));
        CHECK(odd_part(all_a(family, p)) == doctest::Approx(0.5).epsilon(0.05));
        // An eighth of its columns is zero where something is planted.
        const bool planted = family == InputFamily::infinities || family == InputFamily::nans;
        CHECK(odd_part(all_b(family, p)) == doctest::Approx(planted ? 0.44 : 0.5).epsilon(0.05));
    }
}

TEST_CASE("wide exponents are spread evenly, with either sign") {
    const GemmProblem p = problem(100, 100, 100);
    for (const auto& [family, most] : {std::pair(InputFamily::wide_20, 20), std::pair(InputFamily::wide_60, 60)})
        for (const std::vector<float>& values : {all_a(family, p), all_b(family, p)}) {
            std::vector<int> counts(static_cast<std::size_t>(2 * most + 1));
            for (const float value : values) {
                const int exponent = std::ilogb(value);
                REQUIRE(std::abs(exponent) <= most);
                ++counts[static_cast<std::size_t>(exponent + most)];
            }
            const double expected = 10000.0 / static_cast<double>(counts.size());
            for (const int count : counts) {
                CHECK(count > expected / 2);
                CHECK(count < expected * 2);
            }
            const auto negative = std::count_if(values.begin(), values.end(), [](float value) { return value < 0; });
            CHECK(static_cast<double>(negative) == doctest::Approx(5000).epsilon(0.05));
        }
}

TEST_CASE("what cancels leaves far less than its terms, and never nothing") {
    for (const i64 k : {2, 3, 64, 65, 1000}) {
        CAPTURE(k);
        const GemmProblem p = problem(20, 30, k);
        for (i64 row = 0; row < p.m; ++row)
            for (i64 column = 0; column < p.n; ++column) {
                const double c = std::fabs(product(InputFamily::cancelling, p, row, column));
                CHECK(c > 0);
                // An odd depth's last term stands alone, and may meet small ones.
                if (k % 2 == 0) CHECK(c <= product(InputFamily::cancelling, p, row, column, true) * 0x1.01p-10);
            }
    }
}

TEST_CASE("subnormal operands give normal products, vanishing ones none") {
    const GemmProblem p = problem(50, 50, 50);
    const std::vector<float> a = all_a(InputFamily::subnormal, p);
    const std::vector<float> b = all_b(InputFamily::subnormal, p);
    for (const float value : a) REQUIRE(std::fpclassify(value) == FP_SUBNORMAL);
    for (const float value : b) REQUIRE(std::fpclassify(value) == FP_NORMAL);
    for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(std::fpclassify(a[i] * b[i]) == FP_NORMAL);

    const std::vector<float> tiny_a = all_a(InputFamily::vanishing, p);
    const std::vector<float> tiny_b = all_b(InputFamily::vanishing, p);
    for (std::size_t i = 0; i < tiny_a.size(); ++i) {
        REQUIRE(std::fpclassify(tiny_a[i]) == FP_NORMAL);
        REQUIRE(std::fabs(tiny_a[i]) >= 0x1p-121F);
        REQUIRE(std::fabs(tiny_a[i]) < 0x1p-118F);
        REQUIRE(tiny_a[i] * tiny_b[i] == 0);
    }
}

TEST_CASE("planted infinities and NaNs reach some of C in every way, and leave most of it finite") {
    for (const InputFamily family : {InputFamily::infinities, InputFamily::nans}) {
        CAPTURE(name_of(family));
        const GemmProblem p = problem(64, 64, 20);
        int finite = 0;
        int positive = 0;
        int negative = 0;
        int nans = 0;
        for (i64 row = 0; row < p.m; ++row)
            for (i64 column = 0; column < p.n; ++column) {
                const double c = product(family, p, row, column);
                finite += std::isfinite(c) ? 1 : 0;
                positive += std::isinf(c) && c > 0 ? 1 : 0;
                negative += std::isinf(c) && c < 0 ? 1 : 0;
                nans += std::isnan(c) ? 1 : 0;
                // A planted row meets zeros: they are not to be skipped.
                if (row % 8 == 5 && column % 8 == 6) CHECK(std::isnan(c));
            }
        CHECK(finite == 64 * 64 * 49 / 64);
        const bool infinities = family == InputFamily::infinities;
        CHECK((positive > 50) == infinities);
        CHECK((negative > 50) == infinities);
        CHECK(nans > 100);
        // However small the problem, something is planted.
        for (const i64 m : {1, 7})
            for (const i64 n : {1, 9}) {
                const GemmProblem small = problem(m, n, 3);
                std::vector<float> all = all_a(family, small);
                for (const float value : all_b(family, small)) all.push_back(value);
                CHECK(std::any_of(all.begin(), all.end(), [](float value) { return !std::isfinite(value); }));
            }
    }
}

TEST_CASE("every layout and batch stores the same values, and nothing between the rows") {
    GemmProblem p = problem(5, 6, 7);
    p.batch = 3;
    p.op_a = Operation::transpose;
    p.op_b = Operation::transpose;
    p.lda = 8;
    p.ldb = 10;
    p.stride_a = 60;
    p.stride_b = 0;
    std::vector<float> a(2 * 60 + 6 * 8 + 5, kNan);
    std::vector<float> b(5 * 10 + 7, kNan);
    fill_a(InputFamily::uniform, p, a);
    fill_b(InputFamily::uniform, p, b);
    std::set<float> values;
    for (i64 batch = 0; batch < 3; ++batch)
        for (i64 k = 0; k < 7; ++k)
            for (i64 row = 0; row < 5; ++row) {
                const float value = a[static_cast<std::size_t>(batch * 60 + k * 8 + row)];
                CHECK(value == value_a(InputFamily::uniform, p, batch, row, k));
                values.insert(value);
            }
    CHECK(values.size() == 3 * 7 * 5);
    // The matrix that the batch shares is its first one.
    for (i64 column = 0; column < 6; ++column)
        for (i64 k = 0; k < 7; ++k) CHECK(b[static_cast<std::size_t>(column * 10 + k)] == value_b(InputFamily::uniform, p, 0, k, column));
    CHECK(std::count_if(a.begin(), a.end(), [](float value) { return std::isnan(value); }) == static_cast<std::ptrdiff_t>(a.size()) - 105);
    CHECK(std::count_if(b.begin(), b.end(), [](float value) { return std::isnan(value); }) == static_cast<std::ptrdiff_t>(b.size()) - 42);

    // It is the same element of op(A) as in a plain layout.
    GemmProblem plain = problem(5, 6, 7);
    CHECK(value_a(InputFamily::normal, p, 0, 4, 3) == value_a(InputFamily::normal, plain, 0, 4, 3));
    CHECK(value_b(InputFamily::normal, p, 0, 4, 3) == value_b(InputFamily::normal, plain, 0, 4, 3));
}
