// Values of the 16-bit element types; see element_bits.h.
#include "bench/operands/element_bits.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "generator/problem/number_codec.h"

namespace tmm::bench {
namespace {

void check(ElementType type) {
    if (type == ElementType::f64) throw std::invalid_argument("tmm-bench multiplies f32, f16 and bf16");
}

}  // namespace

std::uint16_t bits_of(ElementType type, float value) {
    check(type);
    return static_cast<std::uint16_t>(encoded(type, static_cast<double>(value)));
}

float value_of(ElementType type, std::uint16_t bits) {
    check(type);
    return static_cast<float>(decoded(type, bits));
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
    check(type);
    return tmm::unit_roundoff(format_of(type));
}

double smallest_rounding(ElementType type) {
    check(type);
    const NumberFormat format = format_of(type);
    return std::ldexp(1.0, format.least_exponent - format.digits);
}

}  // namespace tmm::bench
