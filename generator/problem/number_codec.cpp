#include "generator/problem/number_codec.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tmm {

namespace {

// Bits beyond a whole number's width, and those of a negative one as 64 bits hold it.
u64 bits_above(const NumberFormat& format) {
    return ~(format.sign_mask() * 2 - 1);
}

// The nearest whole number of the format, ties to even; 0 for a NaN.
u64 encoded_integer(const NumberFormat& format, double value) {
    const auto most = static_cast<double>(format.sign_mask() - 1);
    const double rounded = std::isnan(value) ? 0 : std::clamp(std::nearbyint(value), -most - 1, most);
    return static_cast<u64>(static_cast<i64>(rounded)) & ~bits_above(format);
}

}  // namespace

double decoded(ElementType type, u64 bits) {
    const NumberFormat format = format_of(type);
    if (format.is_integer)
        return static_cast<double>(static_cast<i64>((bits & format.sign_mask()) != 0 ? bits | bits_above(format) : bits));
    const u64 fraction_mask = (u64{1} << format.fraction_bits()) - 1;
    const auto exponent = static_cast<int>((bits & format.exponent_mask()) >> format.fraction_bits());
    const u64 fraction = bits & fraction_mask;
    double magnitude = 0;
    if (!format.is_finite(bits)) {
        magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    } else {
        const u64 significand = exponent == 0 ? fraction : fraction | (fraction_mask + 1);
        magnitude =
            std::ldexp(static_cast<double>(significand), std::max(exponent, 1) - 1 + format.least_exponent - format.fraction_bits());
    }
    return (bits & format.sign_mask()) != 0 ? -magnitude : magnitude;
}

u64 encoded(ElementType type, double value) {
    const NumberFormat format = format_of(type);
    if (format.is_integer) return encoded_integer(format, value);
    const u64 sign = std::signbit(value) ? format.sign_mask() : 0;
    const u64 infinite = format.exponent_mask();
    if (std::isnan(value)) return sign | infinite | u64{1} << (format.fraction_bits() - 1);
    const double magnitude = std::fabs(value);
    if (std::isinf(magnitude)) return sign | infinite;
    if (magnitude == 0) return sign;
    const int exponent = std::max(std::ilogb(magnitude), format.least_exponent);
    // The magnitude in units of the last place; nearbyint rounds ties to even. A carry out of the fraction adds to the exponent, as it
    // should, and what is far too large is cut to infinity.
    if (exponent > -format.least_exponent + 1) return sign | infinite;
    const auto units = static_cast<u64>(std::nearbyint(std::ldexp(magnitude, format.fraction_bits() - exponent)));
    const u64 bits = (static_cast<u64>(exponent - format.least_exponent) << format.fraction_bits()) + units;
    return sign | std::min(bits, infinite);
}

double rounded_to(ElementType type, double value) {
    return decoded(type, encoded(type, value));
}

}  // namespace tmm
