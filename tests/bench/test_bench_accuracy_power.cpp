// Can the promise of accuracy be told from chance? Products that are less accurate than a loop of FP32 FMAs are caught however small they
// are (a slice of the cases; all with TMM_TEST_FULL=1), and products that are as accurate pass, by so many standard deviations that chance
// does not reach.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "bench/accuracy/family_accuracy.h"
#include "bench/peers/peers.h"
#include "tests/support/slice.h"
#include "tmm/checks/verify/args.h"

using namespace tmm;
using namespace tmm::bench;

namespace {

// One element of C: its row of A, its column of B, and the distance of their elements.
struct Line {
    const float* a;
    const float* b;
    i64 distance_b;
    i64 k;
    float product_a(i64 i) const { return a[i]; }
    float product_b(i64 i) const { return b[i * distance_b]; }
};
using Sum = std::function<float(const Line&)>;

class Computed final : public Contestant {
public:
    Computed(const GemmProblem& problem, Sum sum) : problem_(problem), sum_(std::move(sum)) {}
    void enqueue(const GemmCall& call, Stream) override {
        const auto* a = static_cast<const float*>(call.a);
        const auto* b = static_cast<const float*>(call.b);
        auto* c = static_cast<float*>(call.c);
        for (i64 row = 0; row < problem_.m; ++row)
            for (i64 column = 0; column < problem_.n; ++column)
                c[row * problem_.ldc + column] =
                    sum_({.a = a + row * problem_.lda, .b = b + column, .distance_b = problem_.ldb, .k = problem_.k});
    }

private:
    GemmProblem problem_;
    Sum sum_;
};

float chain(const Line& line, i64 first, i64 last, i64 step) {
    float sum = 0;
    for (i64 i = first; i != last; i += step) sum = std::fma(line.product_a(i), line.product_b(i), sum);
    return sum;
}
float forward(const Line& line) {
    return chain(line, 0, line.k, 1);
}
float backward(const Line& line) {
    return chain(line, line.k - 1, -1, -1);
}
// Adds the odd products first: another order of one chain.
float odd_first(const Line& line) {
    float sum = 0;
    for (const i64 first : {1, 0})
        for (i64 i = first; i < line.k; i += 2) sum = std::fma(line.product_a(i), line.product_b(i), sum);
    return sum;
}

// The value with all but the upper `bits` bits of the fraction cut off.
float cut(float x, int bits) {
    return std::bit_cast<float>(std::bit_cast<unsigned>(x) & ~((1U << (23 - bits)) - 1));
}
// Rounds to the nearest; 10 bits are those of f16 and tf32, 7 those of bf16, whatever the exponent.
float rounded_to(float x, int bits) {
    const unsigned half = 1U << (22 - bits);
    return cut(std::bit_cast<float>(std::bit_cast<unsigned>(x) + half), bits);
}
Sum of_rounded_operands(int bits) {
    return [bits](const Line& line) {
        float sum = 0;
        for (i64 i = 0; i < line.k; ++i) sum = std::fma(rounded_to(line.product_a(i), bits), rounded_to(line.product_b(i), bits), sum);
        return sum;
    };
}
float chain_of_halves(const Line& line) {
    float sum = 0;
    for (i64 i = 0; i < line.k; ++i) sum = rounded_to(std::fma(line.product_a(i), line.product_b(i), sum), 10);
    return sum;
}
float chain_towards_zero(const Line& line) {
    double sum = 0;
    for (i64 i = 0; i < line.k; ++i) {
        const double next = static_cast<double>(line.product_a(i)) * line.product_b(i) + sum;
        auto cut = static_cast<float>(next);
        if (std::fabs(cut) > std::fabs(next)) cut = std::nextafter(cut, 0.0F);
        sum = cut;
    }
    return static_cast<float>(sum);
}
// One element in ten has three times the loop's error, so that the rms is 1.34 times the loop's. (1.3 times each error is none that a float
// holds: most errors are less than half of a result's last bit.)
float sometimes_worse(const Line& line) {
    double exact = 0;
    for (i64 i = 0; i < line.k; ++i) exact += static_cast<double>(line.product_a(i)) * line.product_b(i);
    const bool worse = random_bits(1, std::bit_cast<u64>(exact)) % 10 == 0;
    const float sum = forward(line);
    return worse ? static_cast<float>(exact + 3 * (sum - exact)) : sum;
}

GemmProblem problem(i64 m, i64 n, i64 k) {
    return GemmProblem{.m = m, .n = n, .k = k, .lda = k, .ldb = n, .ldc = n};
}

FamilyAccuracy accuracy_of(const Sum& sum, const GemmProblem& p, InputFamily family, int first_draw = 0) {
    static const std::shared_ptr<Device> host = open_device(kHostDevice);
    static ExactMultiplier multiplier(host);
    FamilyOperands operands(host, p);
    Computed ours(p, sum);
    Computed loop(p, forward);
    return measure_family(family, operands, multiplier, {.tmm = ours, .loop = loop, .cublas = nullptr}, nullptr, {.first = first_draw});
}

constexpr InputFamily kOrdinary[] = {InputFamily::uniform, InputFamily::normal,   InputFamily::wide_20,
                                     InputFamily::wide_60, InputFamily::positive, InputFamily::cancelling};

// The distance from 0, in deviations of the ratio, at which a sum would break the promise: 5 that are allowed and what lies between.
double deviations_to_failure(const Ratio& ratio, double most) {
    return (most + kDeviations * ratio.deviation - ratio.value) / ratio.deviation;
}

}  // namespace

TEST_CASE("less accurate products are caught on small shapes, by every way to be so") {
    struct Case {
        std::string name;
        Sum sum;
    };
    const Case cases[] = {{"tf32 operands", of_rounded_operands(10)},
                          {"bf16 operands", of_rounded_operands(7)},
                          {"a sum in half precision", chain_of_halves},
                          {"sums cut off", chain_towards_zero},
                          {"three times the loop's errors, rarely", sometimes_worse}};
    std::size_t index = 0;
    for (const Case& one : cases)
        for (const GemmProblem& p : {problem(16, 16, 16), problem(3, 5, 64), problem(64, 64, 24)})
            for (const InputFamily family : kOrdinary) {
                if (!tmm::testing::in_slice(index++, 5)) continue;
                CAPTURE(one.name);
                CAPTURE(p.k);
                CAPTURE(name_of(family));
                const FamilyAccuracy found = accuracy_of(one.sum, p, family);
                CAPTURE(found.rms_ratio.value);
                CAPTURE(found.rms_ratio.deviation);
                CHECK_FALSE(found.rms_holds());
                CHECK_FALSE(found.holds());
            }
}

TEST_CASE("other orders of the loop pass by more deviations than chance reaches") {
    for (const Sum& sum : {Sum(backward), Sum(odd_first)})
        for (const GemmProblem& p : {problem(16, 16, 16), problem(3, 5, 64), problem(64, 64, 24)})
            for (const InputFamily family : kOrdinary) {
                CAPTURE(p.k);
                CAPTURE(name_of(family));
                const FamilyAccuracy found = accuracy_of(sum, p, family);
                CAPTURE(found.rms_ratio.value);
                CAPTURE(found.rms_ratio.deviation);
                CHECK(found.holds());
                // A normal distribution is so far out once in 10^9 times.
                CHECK(deviations_to_failure(found.rms_ratio, kMostRmsRatio) > 6);
                CHECK(deviations_to_failure(found.worst_ratio, kMostWorstRatio) > 6);
                CHECK(found.largest_ratio < 1.6);
            }
}

TEST_CASE("the deviation that is reported is the ratio's own from draw to draw") {
    // The ratio of backward sums is 1 but for chance.
    constexpr int repeats = 25;
    for (const GemmProblem& p : {problem(16, 16, 16), problem(48, 48, 24)})
        for (const InputFamily family : {InputFamily::uniform, InputFamily::wide_60, InputFamily::cancelling}) {
            CAPTURE(p.m);
            CAPTURE(name_of(family));
            double squares = 0;
            for (int repeat = 0; repeat < repeats; ++repeat) {
                const Ratio ratio = accuracy_of(backward, p, family, 10000 * (repeat + 1)).rms_ratio;
                const double deviations = (ratio.value - 1) / ratio.deviation;
                squares += deviations * deviations;
            }
            // The root of the mean square of 25 values is so far from 1 in less than a thousandth of all cases.
            const double spread = std::sqrt(squares / repeats);
            CAPTURE(spread);
            CHECK(spread > 0.5);
            CHECK(spread < 1.55);
        }
}
