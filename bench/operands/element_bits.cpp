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

template <class T>
std::vector<double> cast_to_doubles(const std::vector<std::byte>& stored) {
    const std::vector<T> elements = elements_of<T>(stored);
    return {elements.begin(), elements.end()};
}

// Elements so narrow that a table has a value for each pattern of bits.
template <class Bits>
std::vector<double> values_of(ElementType type, const std::vector<std::byte>& stored) {
    const std::vector<Bits> bits = elements_of<Bits>(stored);
    std::vector<double> values(bits.size());
    std::vector<double> table(std::size_t{1} << 8 * sizeof(Bits));
    if (bits.size() < table.size()) {
        std::transform(bits.begin(), bits.end(), values.begin(), [type](Bits one) { return decoded(type, one); });
        return values;
    }
    for (std::size_t one = 0; one < table.size(); ++one) table[one] = decoded(type, one);
    std::transform(bits.begin(), bits.end(), values.begin(), [&](Bits one) { return table[one]; });
    return values;
}

template <class Bits>
std::vector<std::byte> stored_as(ElementType type, const std::vector<double>& values) {
    std::vector<Bits> bits(values.size());
    std::transform(values.begin(), values.end(), bits.begin(), [type](double value) { return static_cast<Bits>(encoded(type, value)); });
    return bytes_of(bits);
}

}  // namespace

std::vector<double> to_values(ElementType type, const std::vector<std::byte>& stored) {
    switch (size_of(type)) {
        case 1: return values_of<std::uint8_t>(type, stored);
        case 2: return values_of<std::uint16_t>(type, stored);
        case 4: return type == ElementType::f32 ? cast_to_doubles<float>(stored) : cast_to_doubles<std::int32_t>(stored);
        default: return elements_of<double>(stored);
    }
}

std::vector<std::byte> to_stored(ElementType type, const std::vector<double>& values) {
    switch (size_of(type)) {
        case 1: return stored_as<std::uint8_t>(type, values);
        case 2: return stored_as<std::uint16_t>(type, values);
        case 4: return stored_as<std::uint32_t>(type, values);
        default: return bytes_of(values);
    }
}

double unit_roundoff(ElementType type) {
    return tmm::unit_roundoff(format_of(type));
}

double smallest_rounding(ElementType type) {
    const NumberFormat format = format_of(type);
    return std::ldexp(1.0, format.least_exponent - format.digits);
}

}  // namespace tmm::bench
