// How the vocabulary is written and read.
#include "generator/text/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "generator/error.h"

namespace tmm {
namespace {

constexpr std::string_view kElementTypes[] = {"f32", "f16", "bf16", "f64"};
constexpr std::string_view kComputeModes[] = {"f32", "f32_strict", "tf32", "f64"};
constexpr std::string_view kEpilogues[] = {"none", "bias", "activation", "custom"};

// offered: how many of the first some kernel serves; the others have a name and no kernel.
template <typename Enum, std::size_t N>
Enum parse_enum(std::string_view text, const std::string_view (&names)[N], std::size_t offered, const char* what) {
    const auto* found = std::find(std::begin(names), std::end(names), text);
    if (found != std::end(names)) return static_cast<Enum>(found - std::begin(names));
    std::string valid;
    for (const auto name : std::span(names).first(offered)) valid += fmt::format("{}{}", valid.empty() ? "" : ", ", name);
    throw Error(ExitStatus::usage, fmt::format("'{}' is no {}", text, what), {}, "one of " + valid);
}

// Enumerators come out of databases, where any integer may stand.
template <typename Enum, std::size_t N>
std::string_view enum_name(Enum value, const std::string_view (&names)[N]) {
    const auto index = static_cast<std::size_t>(value);
    return index < N ? names[index] : "?";
}

// Where matrices have no elements, the product may be no number of 64 bits.
bool is_product(i64 value, i64 x, i64 y) {
    i64 product = 0;
    return !__builtin_mul_overflow(x, y, &product) && value == product;
}

}  // namespace

std::string_view name_of(ElementType type) {
    return enum_name(type, kElementTypes);
}
std::string_view name_of(ComputeMode mode) {
    return enum_name(mode, kComputeModes);
}
std::string_view name_of(Epilogue epilogue) {
    return enum_name(epilogue, kEpilogues);
}

std::string ops_name(Operation op_a, Operation op_b) {
    return {op_a == Operation::none ? 'n' : 't', op_b == Operation::none ? 'n' : 't'};
}

ElementType parse_element_type(std::string_view text) {
    return parse_enum<ElementType>(text, kElementTypes, 3, "element type");
}
ComputeMode parse_compute_mode(std::string_view text) {
    return parse_enum<ComputeMode>(text, kComputeModes, 3, "compute mode");
}
Epilogue parse_epilogue(std::string_view text) {
    return parse_enum<Epilogue>(text, kEpilogues, 1, "epilogue");
}

std::string to_text(const GemmProblem& p) {
    std::string text = fmt::format("{}x{}x{}", p.m, p.n, p.k);
    const auto add = [&](const char* key, auto value) { text += fmt::format(" {}={}", key, value); };
    if (p.type_a != ElementType::f32) add("dtype", name_of(p.type_a));
    if (p.type_b != p.type_a) add("btype", name_of(p.type_b));
    if (p.type_c != p.type_a) add("ctype", name_of(p.type_c));
    if (p.compute != default_compute(p.type_a)) add("compute", name_of(p.compute));
    if (p.op_a != Operation::none || p.op_b != Operation::none) add("ops", ops_name(p.op_a, p.op_b));
    if (p.batch != 1) add("batch", p.batch);
    if (p.lda != stored_columns_a(p)) add("lda", p.lda);
    if (p.ldb != stored_columns_b(p)) add("ldb", p.ldb);
    if (p.ldc != p.n) add("ldc", p.ldc);
    if (p.batch != 1) {
        if (!is_product(p.stride_a, stored_rows_a(p), p.lda)) add("stride_a", p.stride_a);
        if (!is_product(p.stride_b, stored_rows_b(p), p.ldb)) add("stride_b", p.stride_b);
        if (!is_product(p.stride_c, p.m, p.ldc)) add("stride_c", p.stride_c);
    }
    if (p.alignment != 16) add("align", p.alignment);
    if (p.reads_c) add("beta", 1);
    if (p.epilogue != Epilogue::none) add("epilogue", name_of(p.epilogue));
    return text;
}

}  // namespace tmm
