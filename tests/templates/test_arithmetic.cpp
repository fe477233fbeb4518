// Tests what the number formats say against the CPU's own arithmetic.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "generator/problem/number_codec.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tmm/number/arithmetic.h"

using namespace tmm;

namespace {

constexpr ElementType kTypes[] = {ElementType::f32, ElementType::f16, ElementType::bf16, ElementType::f64};

// The CPU's own 16-bit number; g++ 12 has no other name for it in C++ on 64-bit Arm.
#ifdef __aarch64__
using CpuHalf = __fp16;
#else
using CpuHalf = _Float16;
#endif

bool same(double x, double y) {
    return std::isnan(x) ? std::isnan(y) : std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
}

}  // namespace

TEST_CASE("numbers have the bits that the CPU gives them, rounded as it rounds") {
    std::mt19937_64 random(5);
    int wrong = 0;
    for (int i = 0; i < 200'000; ++i) {
        const auto bits = static_cast<std::uint32_t>(random());
        const std::uint64_t wide = random();
        const double value = std::bit_cast<double>(wide);
        // Exponents about those of floats, at either end of their range and beyond.
        const double near = std::ldexp(1 + static_cast<double>(random() >> 11) * 0x1p-53, static_cast<int>(random() % 320) - 160);
        wrong += !same(decoded(ElementType::f32, bits), static_cast<double>(std::bit_cast<float>(bits)));
        wrong += !same(decoded(ElementType::f64, wide), value);
        wrong += !std::isnan(value) && encoded(ElementType::f64, value) != wide;
        for (const double x : {near, -near}) wrong += encoded(ElementType::f32, x) != std::bit_cast<std::uint32_t>(static_cast<float>(x));
        wrong += !same(decoded(ElementType::bf16, bits & 0xffff), static_cast<double>(std::bit_cast<float>(bits << 16)));
        for (const double x : {near, static_cast<double>(static_cast<float>(near)), std::ldexp(near, 100)})
            wrong += encoded(ElementType::f16, x) != std::bit_cast<std::uint16_t>(static_cast<CpuHalf>(x));
    }
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
        const auto half = std::bit_cast<CpuHalf>(static_cast<std::uint16_t>(bits));
        wrong += !same(decoded(ElementType::f16, bits), static_cast<double>(half));
    }
    CHECK(wrong == 0);
}

TEST_CASE("every 16-bit number comes back, and what lies between two goes to the even one") {
    for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
        int wrong = 0;
        for (u64 bits = 0; bits < 0x10000; ++bits) {
            const double value = decoded(type, bits);
            if (std::isnan(value)) continue;
            wrong += encoded(type, value) != bits;
            if (!format_of(type).is_finite(bits) || !format_of(type).is_finite(bits + 1) || (bits & 0x7fff) == 0x7fff) continue;
            wrong += encoded(type, (value + decoded(type, bits + 1)) / 2) != bits + (bits & 1);
        }
        CHECK(wrong == 0);
    }
    CHECK(decoded(ElementType::f16, 0x3c00) == 1);
    CHECK(decoded(ElementType::f16, 0x7bff) == 65504);
    CHECK(decoded(ElementType::f16, 1) == 0x1p-24);
}

TEST_CASE("roundoff, exact integers and the bits that no arithmetic gives are those of each format") {
    for (const ElementType type : kTypes) {
        CAPTURE(std::string(name_of(type)));
        const NumberFormat format = format_of(type);
        CHECK(format.bytes == size_of(type));
        const double u = unit_roundoff(format);
        CHECK(rounded_to(type, 1 + u) == 1);
        CHECK(rounded_to(type, 1 + 2 * u) == 1 + 2 * u);
        CHECK(rounded_to(type, std::ldexp(1.0, format.least_exponent)) == std::ldexp(1.0, format.least_exponent));
        // The first whole number that is not exact. A double has none to compare with.
        const double largest = std::ldexp(1.0, format.digits);
        CHECK(rounded_to(type, largest) == largest);
        CHECK(rounded_to(type, largest - 1) == largest - 1);
        if (type != ElementType::f64) CHECK(rounded_to(type, largest + 1) != largest + 1);
        for (const u64 bits : {format.poison, format.unwritten}) {
            CHECK(std::isnan(decoded(type, bits)));
            CHECK_FALSE(format.is_finite(bits));
            CHECK((bits >> (format.fraction_bits() - 1) & 1) == 1);
            // What arithmetic gives is the plain quiet NaN, of either sign.
            CHECK((bits & ~format.sign_mask()) != encoded(type, std::numeric_limits<double>::quiet_NaN()));
        }
        CHECK(format.poison != format.unwritten);
        CHECK(format.is_finite(encoded(type, 1)));
    }
}

TEST_CASE("a multiplication's arithmetic follows from its types and mode") {
    for (const char* text : {"8x8x8", "8x8x8 compute=tf32", "8x8x8 dtype=f16", "8x8x8 dtype=bf16 ctype=f32"}) {
        CAPTURE(std::string(text));
        const GemmProblem problem = parse_shape(text).problem;
        const Arithmetic arithmetic = arithmetic_of(problem);
        CHECK(arithmetic == arithmetic_of(signature_of(problem)));
        CHECK(arithmetic.accumulator == partial_result_of(signature_of(problem)).type_c);
        CHECK(arithmetic.scalar == ElementType::f32);
        CHECK(arithmetic.accumulator_roundoff() == 0x1p-24);
        CHECK(arithmetic.reference == ReferenceSum::f64);
        CHECK(arithmetic.rounds_result() == (size_of(problem.type_c) == 2));
    }
    CHECK(arithmetic_of(parse_shape("8x8x8 compute=tf32").problem).operand_digits == 11);
    CHECK(arithmetic_of(parse_shape("8x8x8 dtype=bf16").problem).operand_digits == 8);
    CHECK(arithmetic_of(parse_shape("8x8x8 dtype=bf16").problem).exact_integers() == 256);
    CHECK(arithmetic_of(parse_shape("8x8x8 dtype=bf16 ctype=f32").problem).exact_integers() == 1 << 24);
    // A double's sum can't judge doubles.
    const Arithmetic doubles = arithmetic_of(parse_shape("8x8x8 dtype=f64").problem);
    CHECK(doubles.accumulator == ElementType::f64);
    CHECK(doubles.reference == ReferenceSum::two_f64);
    CHECK(doubles.accumulator_roundoff() == 0x1p-53);
}
