// Values of the element types; see element_bits.h.
#include "bench/operands/element_bits.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "generator/problem/number_codec.h"

namespace tmm::bench {
namespace {

template <class T>
std::vector<T> elements_of(const std::vector<std::byte>& stored) {
    std::vector<T> elements(stored.size() / sizeof(T));
    if (!elements.empty()) std::memcpy(elements.data(), stored.data(), elements.size() * sizeof(T));
    return elements;
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& elements) {
    std::vector<std::byte> stored(elements.size() * sizeof(T));
    if (!stored.empty()) std::memcpy(stored.data(), elements.data(), stored.size());
    return stored;
}

}  // namespace

std::vector<double> to_values(ElementType type, const std::vector<std::byte>& stored) {
    if (type == ElementType::f64) return elements_of<double>(stored);
    if (type == ElementType::f32) {
        const std::vector<float> floats = elements_of<float>(stored);
        return {floats.begin(), floats.end()};
    }
    const std::vector<std::uint16_t> bits = elements_of<std::uint16_t>(stored);
    std::vector<double> values(bits.size());
    std::vector<double> table(1 << 16);
    if (bits.size() < table.size()) {
        std::transform(bits.begin(), bits.end(), values.begin(), [type](std::uint16_t one) { return decoded(type, one); });
        return values;
    }
    for (std::size_t one = 0; one < table.size(); ++one) table[one] = decoded(type, one);
    std::transform(bits.begin(), bits.end(), values.begin(), [&](std::uint16_t one) { return table[one]; });
    return values;
}

std::vector<std::byte> to_stored(ElementType type, const std::vector<double>& values) {
    if (type == ElementType::f64) return bytes_of(values);
    if (type == ElementType::f32) {
        std::vector<float> floats(values.size());
        std::transform(values.begin(), values.end(), floats.begin(), [](double value) { return static_cast<float>(value); });
        return bytes_of(floats);
    }
    std::vector<std::uint16_t> bits(values.size());
    std::transform(values.begin(), values.end(), bits.begin(),
                   [type](double value) { return static_cast<std::uint16_t>(encoded(type, value)); });
    return bytes_of(bits);
}

double unit_roundoff(ElementType type) {
    return tmm::unit_roundoff(format_of(type));
}

double smallest_rounding(ElementType type) {
    const NumberFormat format = format_of(type);
    return std::ldexp(1.0, format.least_exponent - format.digits);
}

}  // namespace tmm::bench
