// What the numbers of a multiplication are, for host and device: the formats of its matrices, what sums and scalars are held in, how exact
// they are, and which bits no arithmetic gives. Whoever fills, reads, judges or times matrices asks here, so that a format is one row.
#pragma once

#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

using u64 = unsigned long long;

// A binary floating-point format with subnormal numbers, infinities and NaNs, as IEEE 754 lays them out, or whole numbers in two's
// complement, which have neither an exponent nor infinities.
struct NumberFormat {
    int bytes;
    // Binary digits of the significand, the leading one included: whole numbers up to 2^digits are exact.
    int digits;
    // The exponent of the smallest normal number.
    int least_exponent;
    // Quiet NaNs that no arithmetic gives. poison lies between and around elements, and unwritten in elements that a kernel has to write.
    // Whole numbers have no such values: there they are values that tests and measurements do not have.
    u64 poison;
    u64 unwritten;
    bool is_integer = false;

    constexpr int fraction_bits() const { return digits - 1; }
    constexpr int exponent_bits() const { return 8 * bytes - digits; }
    // All ones: infinities and NaNs have this exponent.
    constexpr u64 exponent_mask() const { return ((u64{1} << exponent_bits()) - 1) << fraction_bits(); }
    constexpr u64 sign_mask() const { return u64{1} << (8 * bytes - 1); }
    // Whether arithmetic gives the number, and no infinity or NaN: a whole number that has been written.
    constexpr bool is_finite(u64 bits) const { return is_integer ? bits != unwritten : (bits & exponent_mask()) != exponent_mask(); }
};

// 2^exponent, which is a normal number.
constexpr double power_of_two(int exponent) {
    double power = 1;
    for (int i = 0; i < exponent; ++i) power *= 2;
    for (int i = 0; i > exponent; --i) power /= 2;
    return power;
}
// The largest relative change of a normal number by rounding to the format.
constexpr double unit_roundoff(const NumberFormat& format) {
    return power_of_two(-format.digits);
}

// The 16-bit patterns are NaN as f16 and as bf16.
constexpr NumberFormat format_of(ElementType type) {
    switch (type) {
        case ElementType::f32: return {4, 24, -126, 0x7ff5a5a5u, 0x7fc0deadu};
        case ElementType::f16: return {2, 11, -14, 0x7fe5u, 0x7fd9u};
        case ElementType::bf16: return {2, 8, -126, 0x7fe5u, 0x7fd9u};
        case ElementType::s8: return {1, 7, 0, 0xa5u, 0x80u, true};
        case ElementType::s32: return {4, 31, 0, 0x85a5a5a5u, 0x8badbeefu, true};
        case ElementType::f64: break;
    }
    return {8, 53, -1022, 0x7ffda5a5a5a5a5a5ull, 0x7ff8deaddeaddeadull};
}

// What a reference is summed in: it must be wider than what it judges.
enum class ReferenceSum : int { f64 = 0, two_f64 = 1 };

// How a multiplication's numbers are held on their way from A and B to C.
struct Arithmetic {
    ElementType a;
    ElementType b;
    ElementType c;
    // Products are summed, and partial sums kept, in this type; alpha and beta are of it too.
    ElementType accumulator;
    ElementType scalar;
    // Binary digits that a product's operands have when they are multiplied.
    int operand_digits;
    ReferenceSum reference;

    // How far one rounding of a sum can change it, relatively.
    constexpr double accumulator_roundoff() const { return unit_roundoff(format_of(accumulator)); }
    // Whether storing an element of C rounds it beyond the sum's own rounding.
    constexpr bool rounds_result() const { return format_of(c).digits < format_of(accumulator).digits; }
    // C's whole numbers up to this are exact, and so are sums of such products.
    constexpr i64 exact_integers() const {
        const int digits = rounds_result() ? format_of(c).digits : format_of(accumulator).digits;
        return i64{1} << digits;
    }
    friend constexpr bool operator==(const Arithmetic&, const Arithmetic&) = default;
};

constexpr Arithmetic arithmetic_of(ElementType a, ElementType b, ElementType c, ComputeMode compute) {
    const bool wide = compute == ComputeMode::f64;
    const ElementType accumulator = wide ? ElementType::f64 : compute == ComputeMode::s32 ? ElementType::s32 : ElementType::f32;
    const int digits = format_of(a).digits;
    constexpr int tf32_digits = 11;
    return {.a = a,
            .b = b,
            .c = c,
            .accumulator = accumulator,
            .scalar = accumulator,
            .operand_digits = compute == ComputeMode::tf32 && digits > tf32_digits ? tf32_digits : digits,
            .reference = wide ? ReferenceSum::two_f64 : ReferenceSum::f64};
}
constexpr Arithmetic arithmetic_of(const KernelSignature& s) {
    return arithmetic_of(s.type_a, s.type_b, s.type_c, s.compute);
}
constexpr Arithmetic arithmetic_of(const GemmProblem& p) {
    return arithmetic_of(p.type_a, p.type_b, p.type_c, p.compute);
}

// What sums are held in, in registers, in shared memory and, where parts of K are added up later, in the workspace; and its bytes.
constexpr ElementType sum_type(const KernelSignature& s) {
    return arithmetic_of(s).accumulator;
}
constexpr int sum_bytes(const KernelSignature& s) {
    return size_of(sum_type(s));
}
constexpr ElementType sum_type(const GemmProblem& p) {
    return arithmetic_of(p).accumulator;
}
constexpr int sum_bytes(const GemmProblem& p) {
    return size_of(sum_type(p));
}

// Does wgmma take matrices of the type from shared memory only where their rows run along K (K-major)? Those of 16 bits it takes either
// way.
constexpr bool is_k_major_only(ElementType type) {
    return !is_16_bit(type);
}

// The signature that the epilogue sees where a kernel leaves partial results in the workspace instead of C.
constexpr KernelSignature partial_result_of(KernelSignature s) {
    s.type_c = sum_type(s);
    s.align_c = 16;
    s.reads_c = false;
    return without_epilogue(s);
}

// Do multiply_add (number.cuh) and sums of its type keep the mode's promise?
constexpr bool computes_by_fma(const KernelSignature& s) {
    return computes_by_floats(s) || s.compute == ComputeMode::f64 || s.compute == ComputeMode::s32;
}

// Do families on CUDA cores hold sums of the signature's type, be it in this mode or in another?
constexpr bool holds_sums(const KernelSignature& s) {
    return sum_type(s) == ElementType::f32 || computes_by_fma(s);
}

// Do elements of the type become numbers of the sums' type when they are multiplied?
constexpr bool converts_to_sums(ElementType type, const KernelSignature& s) {
    if (sum_type(s) == ElementType::s32) return type == ElementType::s8;
    return type == sum_type(s) || is_16_bit(type);
}

// Why an epilogue can't be applied; null where it can, or where there is none.
constexpr const char* epilogue_violation(const KernelSignature& s) {
    if (s.epilogue == Epilogue::custom && sum_type(s) == ElementType::f64) return "expressions are computed in floats";
    if (s.epilogue != Epilogue::none && sum_type(s) == ElementType::s32)
        return "the family applies no epilogue to sums of s8: bias, activation, residual and expressions are computed in floats";
    return nullptr;
}

// Why a family that turns each element of A and B into a number of the sums' type can't serve the types; null where it can.
constexpr const char* converted_types_violation(const KernelSignature& s) {
    if (!converts_to_sums(s.type_a, s) || !holds_sums(s)) return "the family multiplies f32, f16, bf16, f64 and s8";
    if (const char* violation = epilogue_violation(s)) return violation;
    if (s.type_b != s.type_a) return "the family takes A and B of one type";
    if (s.type_c != sum_type(s) && (s.type_c != s.type_a || s.type_a == ElementType::s8))
        return "the family's C has the type of A and B, or f32; of products of s8 it is s32";
    if (!computes_by_fma(s)) return "the family computes in f32";
    return nullptr;
}

// The same for a step that adds up sums: its operands have C's type.
constexpr const char* summed_types_violation(const KernelSignature& s) {
    return s.type_a == ElementType::s32 && s.type_c == s.type_a ? epilogue_violation(s) : converted_types_violation(s);
}

// Why a family whose elements and sums are of one type can't serve the types; null where it can.
constexpr const char* one_type_violation(const KernelSignature& s) {
    const bool is_one_type = s.type_a == sum_type(s) && s.type_b == sum_type(s) && s.type_c == sum_type(s);
    if (!is_one_type || !holds_sums(s) || s.type_a == ElementType::s32) return "the family multiplies f32 into f32, and f64 into f64";
    if (const char* violation = epilogue_violation(s)) return violation;
    if (!computes_by_fma(s)) return "the family computes in f32";
    return nullptr;
}
// The same for a family that multiplies bytes as well, which become sums when they are multiplied.
constexpr const char* one_type_or_bytes_violation(const KernelSignature& s) {
    return s.type_a == ElementType::s8 ? converted_types_violation(s) : one_type_violation(s);
}

}  // namespace tmm
