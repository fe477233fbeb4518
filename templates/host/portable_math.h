// Elementary functions with the same bits on every machine. C libraries differ in the last bit of exp, log, pow, tanh and erfc, even one
// library between CPUs with and without fused multiply-adds; estimates and the emulated device's results must not. These are made of
// additions, multiplications and divisions, which IEEE 754 rounds in one way, so whoever includes this compiles with -ffp-contract=off.
// They are right to some units in the last place (tests/templates/test_portable_math.cpp has the bounds). Results below 2^-1022 are 0.
#pragma once

namespace tmm::portable {

constexpr double kLn2 = 0.6931471805599453094;
constexpr double kLog2E = 1.4426950408889634074;
constexpr int kIntervals = 32;

// Values at i / 32: of 2^x, of 1 / (1 + x), and of log2(1 + x).
struct Tables {
    double power[kIntervals];
    double inverse[kIntervals + 1];
    double logarithm[kIntervals + 1];
};
constexpr Tables make_tables() {
    Tables tables{};
    for (int i = 0; i < kIntervals; ++i) {
        const double x = i * kLn2 / kIntervals;
        for (int term = 24; term > 0; --term) tables.power[i] = (tables.power[i] + 1) * x / term;
        tables.power[i] += 1;
    }
    for (int i = 0; i <= kIntervals; ++i) {
        const double x = static_cast<double>(i) / kIntervals;
        tables.inverse[i] = 1 / (1 + x);
        // log(1 + x) = 2 artanh(x / (2 + x))
        const double t = x / (2 + x);
        for (int odd = 41; odd > 0; odd -= 2) tables.logarithm[i] = tables.logarithm[i] * t * t + 1.0 / odd;
        tables.logarithm[i] *= 2 * t * kLog2E;
    }
    tables.logarithm[kIntervals] = 1;
    return tables;
}
inline constexpr Tables kTables = make_tables();

constexpr double power_of_two(long long exponent) {
    return __builtin_bit_cast(double, static_cast<unsigned long long>(exponent + 1023) << 52);
}
constexpr double magnitude(double x) {
    return x < 0 ? -x : x;
}

constexpr double exp2(double x) {
    if (x != x) return x;
    if (x >= 1024) return __builtin_huge_val();
    if (x < -1022) return 0;
    const auto nearest = static_cast<long long>(x * kIntervals + (x < 0 ? -0.5 : 0.5));
    const double z = (x - static_cast<double>(nearest) / kIntervals) * kLn2;
    const double z2 = z * z;
    const double series = z + z2 * (1 / 2.0 + z * (1 / 6.0) + z2 * (1 / 24.0 + z * (1 / 120.0) + z2 * (1 / 720.0)));
    const double power = kTables.power[nearest & (kIntervals - 1)];
    // The exponent may be 1024, of which no double is a power.
    const long long exponent = nearest >> 5;
    return (power + power * series) * power_of_two(exponent / 2) * power_of_two(exponent - exponent / 2);
}

// Exact for powers of two.
constexpr double log2(double x) {
    if (x == 0) return -__builtin_huge_val();
    if (!(x > 0)) return __builtin_nan("");
    if (x == __builtin_huge_val()) return x;
    constexpr unsigned long long fraction_mask = (1ull << 52) - 1;
    const bool is_subnormal = x < 0x1p-1022;
    const auto bits = __builtin_bit_cast(unsigned long long, is_subnormal ? x * 0x1p54 : x);
    const int exponent = static_cast<int>(bits >> 52) - 1023 - (is_subnormal ? 54 : 0);
    const double fraction = __builtin_bit_cast(double, (bits & fraction_mask) | 1023ull << 52);
    const auto nearest = static_cast<int>((fraction - 1) * kIntervals + 0.5);
    const double r = (fraction - 1 - static_cast<double>(nearest) / kIntervals) * kTables.inverse[nearest];
    const double r2 = r * r;
    const double r4 = r2 * r2;
    const double series = r - r2 * (1 / 2.0 - r * (1 / 3.0)) -
                          r4 * (1 / 4.0 - r * (1 / 5.0) + r2 * (1 / 6.0 - r * (1 / 7.0)) + r4 * (1 / 8.0 - r * (1 / 9.0)));
    return exponent + kTables.logarithm[nearest] + series * kLog2E;
}

// x >= 0.
constexpr double pow(double x, double y) {
    return y == 0 ? 1 : exp2(y * log2(x));
}
constexpr double exp(double x) {
    return exp2(x * kLog2E);
}
constexpr double log(double x) {
    return log2(x) * kLn2;
}

// exp(x) - 1
constexpr double expm1(double x) {
    if (!(magnitude(x) < 0.5)) return exp(x) - 1;
    double sum = 0;
    for (int term = 15; term > 1; --term) sum = (sum + 1) * x / term;
    return x + x * sum;
}

// log(1 + x)
constexpr double log1p(double x) {
    if (!(magnitude(x) < 0.25)) return log(1 + x);
    const double t = x / (2 + x);
    double sum = 0;
    for (int odd = 21; odd > 1; odd -= 2) sum = (sum + 1.0 / odd) * t * t;
    return 2 * (t + t * sum);
}

constexpr double tanh(double x) {
    const double doubled = expm1(2 * magnitude(x));
    const double size = doubled < 0x1p60 ? doubled / (doubled + 2) : x != x ? x : 1;
    return x < 0 ? -size : x == 0 ? x : size;
}

// The two parts of a normal distribution: erf(x) by its series for 0 <= x < 2, erfc(x) by its continued fraction for x >= 2.
constexpr double erf_of_small(double x) {
    constexpr double two_by_root_of_pi = 1.1283791670955125739;
    double sum = 0;
    for (int n = 60; n > 0; --n) sum = (sum + 1) * (2 * x * x) / (2 * n + 1);
    return two_by_root_of_pi * exp(-x * x) * (x + x * sum);
}
constexpr double erfc_of_large(double x) {
    constexpr double root_of_pi = 1.7724538509055160273;
    // From here on it is below 2^-1022.
    if (x > 27) return 0;
    double fraction = x;
    for (int n = 80; n > 0; --n) fraction = x + 0.5 * n / fraction;
    return exp(-x * x) / (root_of_pi * fraction);
}
constexpr double erfc(double x) {
    if (x != x) return x;
    const double size = magnitude(x);
    const double beyond = size < 2 ? 1 - erf_of_small(size) : erfc_of_large(size);
    return x < 0 ? 2 - beyond : beyond;
}
constexpr double erf(double x) {
    if (x != x || x == 0) return x;
    const double size = magnitude(x);
    const double within = size < 2 ? erf_of_small(size) : 1 - erfc_of_large(size);
    return x < 0 ? -within : within;
}

}  // namespace tmm::portable
