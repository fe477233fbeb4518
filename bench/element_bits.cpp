// Values of the 16-bit element types; see element_bits.h.
#include "bench/element_bits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace tmm::bench {
namespace {

// Significand bits after the point, exponents of the smallest normal value.
struct Format {
    int fraction;
    int least_exponent;
};

Format format_of(ElementType type) {
    switch (type) {
        case ElementType::f32: return {.fraction = 23, .least_exponent = -126};
        case ElementType::f16: return {.fraction = 10, .least_exponent = -14};
        case ElementType::bf16: return {.fraction = 7, .least_exponent = -126};
        case ElementType::f64: break;
    }
    throw std::invalid_argument("tmm-bench multiplies f32, f16 and bf16");
}

}  // namespace

std::uint16_t bits_of(ElementType type, float value) {
    const Format format = format_of(type);
    const std::uint32_t sign = std::bit_cast<std::uint32_t>(value) >> 31 << 15;
    const int bias = 1 - format.least_exponent;
    const std::uint32_t infinite = static_cast<std::uint32_t>(2 * bias + 1) << format.fraction;
    if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinite | 1U << (format.fraction - 1));
    const double magnitude = std::fabs(static_cast<double>(value));
    if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | infinite);
    if (magnitude == 0) return static_cast<std::uint16_t>(sign);
    const int exponent = std::max(std::ilogb(magnitude), format.least_exponent);
    // The magnitude in units of the last place; nearbyint rounds ties to even. A carry out of the fraction adds to the exponent, as it
    // should.
    const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, format.fraction - exponent)));
    const std::uint32_t bits = (static_cast<std::uint32_t>(exponent - format.least_exponent) << format.fraction) + units;
    return static_cast<std::uint16_t>(sign | std::min(bits, infinite));
}

float value_of(ElementType type, std::uint16_t bits) {
    const Format format = format_of(type);
    const int exponents = 15 - format.fraction;
    const int exponent = bits >> format.fraction & ((1 << exponents) - 1);
    const int fraction = bits & ((1 << format.fraction) - 1);
    float magnitude = 0;
    if (exponent == (1 << exponents) - 1)
        magnitude = fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    else if (exponent == 0)
        magnitude = std::ldexp(static_cast<float>(fraction), format.least_exponent - format.fraction);
    else
        magnitude = std::ldexp(static_cast<float>(fraction | 1 << format.fraction), exponent - 1 + format.least_exponent - format.fraction);
    return bits >> 15 ? -magnitude : magnitude;
}

float rounded(ElementType type, float value) {
    return type == ElementType::f32 ? value : value_of(type, bits_of(type, value));
}

std::vector<float> to_floats(ElementType type, const std::vector<std::byte>& stored) {
    std::vector<float> values(stored.size() / static_cast<std::size_t>(size_of(type)));
    if (values.empty()) return values;
    if (type == ElementType::f32) {
        std::memcpy(values.data(), stored.data(), stored.size());
        return values;
    }
    std::vector<float> table(1 << 16);
    for (std::size_t bits = 0; bits < table.size(); ++bits) table[bits] = value_of(type, static_cast<std::uint16_t>(bits));
    std::vector<std::uint16_t> bits(values.size());
    std::memcpy(bits.data(), stored.data(), stored.size());
    std::transform(bits.begin(), bits.end(), values.begin(), [&](std::uint16_t one) { return table[one]; });
    return values;
}

std::vector<std::byte> to_stored(ElementType type, const std::vector<float>& values) {
    std::vector<std::byte> stored(values.size() * static_cast<std::size_t>(size_of(type)));
    if (values.empty()) return stored;
    if (type == ElementType::f32) {
        std::memcpy(stored.data(), values.data(), stored.size());
        return stored;
    }
    std::vector<std::uint16_t> bits(values.size());
    std::transform(values.begin(), values.end(), bits.begin(), [type](float value) { return bits_of(type, value); });
    std::memcpy(stored.data(), bits.data(), stored.size());
    return stored;
}

double unit_roundoff(ElementType type) {
    return std::ldexp(1.0, -format_of(type).fraction - 1);
}

double smallest_rounding(ElementType type) {
    const Format format = format_of(type);
    return std::ldexp(1.0, format.least_exponent - format.fraction - 1);
}

}  // namespace tmm::bench
