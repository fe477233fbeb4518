#include "generator/text/spellings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text/nearest_name.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

struct Synonym {
    std::string_view written;
    std::string_view name;
    Spelling spelling = Spelling::plain;
};

// Names are in lower case, without prefixes of PyTorch and CUDA.
constexpr Synonym kTypes[] = {
    {"float", "f32"},
    {"float32", "f32"},
    {"fp32", "f32"},
    {"single", "f32"},
    {"half", "f16"},
    {"float16", "f16"},
    {"fp16", "f16"},
    {"bfloat16", "bf16"},
    {"double", "f64"},
    {"float64", "f64"},
    {"fp64", "f64"},
    {"int8", "s8"},
    {"int32", "s32"},
    {"s", "f32", Spelling::blas},
    {"f32_r", "f32", Spelling::blas},
    {"r_32f", "f32", Spelling::blas},
    {"h", "f16", Spelling::blas},
    {"f16_r", "f16", Spelling::blas},
    {"r_16f", "f16", Spelling::blas},
    {"b", "bf16", Spelling::blas},
    {"bf16_r", "bf16", Spelling::blas},
    {"r_16bf", "bf16", Spelling::blas},
    {"d", "f64", Spelling::blas},
    {"f64_r", "f64", Spelling::blas},
    {"r_64f", "f64", Spelling::blas},
    {"i8", "s8", Spelling::blas},
    {"i8_r", "s8", Spelling::blas},
    {"r_8i", "s8", Spelling::blas},
    {"i32", "s32", Spelling::blas},
    {"i32_r", "s32", Spelling::blas},
    {"r_32i", "s32", Spelling::blas},
};

constexpr std::string_view kPrefixes[] = {"torch.", "cuda_", "hip_", "dtypes.", "dt_", "c10::"};

std::string without_prefix(std::string_view text) {
    std::string name = lowered(text);
    for (const std::string_view prefix : kPrefixes)
        if (name.starts_with(prefix)) name.erase(0, prefix.size());
    return name;
}

bool is_complex(std::string_view name) {
    constexpr std::string_view kLetters[] = {"c", "z", "cf32", "cf64", "cf16", "cbf16", "ctf32"};
    return name.find("complex") != std::string_view::npos || name.ends_with("_c") || name.starts_with("c_") ||
           std::ranges::find(kLetters, name) != std::end(kLetters);
}

}  // namespace

std::string lowered(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

std::string type_name(std::string_view text, Spelling spelling) {
    std::string name = without_prefix(text);
    for (const Synonym& synonym : kTypes)
        if (name == synonym.written && (synonym.spelling == Spelling::plain || spelling == Spelling::blas))
            return std::string(synonym.name);
    return name;
}

std::string_view foreign_type(std::string_view text) {
    const std::string name = type_name(text, Spelling::blas);
    const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
    const auto begins = [&](std::string_view part) { return name.starts_with(part); };
    if (is_complex(name)) return "complex";
    if (has("8f_") || has("e4m3") || has("e5m2") || has("ue8m0") || has("fp8") || begins("f8") || begins("bf8") || begins("b8") ||
        begins("float8"))
        return "FP8";
    if (has("4f_") || has("e2m1") || has("fp4") || begins("f4") || begins("float4")) return "FP4";
    if (has("e3m2") || has("e2m3") || has("fp6") || begins("f6") || begins("bf6") || begins("float6")) return "FP6";
    constexpr std::array kBytes = {"u8", "u8_r", "r_8u", "uint8", "4xi8"};
    if (std::ranges::find(kBytes, name) != kBytes.end()) return "int8 without signs";
    constexpr std::array kInt4 = {"i4", "s4", "u4", "i4_r", "u4_r", "r_4i", "r_4u", "int4", "uint4", "b1"};
    if (std::ranges::find(kInt4, name) != kInt4.end()) return "an integer of less than 8 bits";
    constexpr std::array kIntegers = {"s32", "u32", "i", "u32_r", "uint32", "i64", "s64", "int64", "i16", "s16", "u16", "int16"};
    if (std::ranges::find(kIntegers, name) != kIntegers.end()) return "an integer";
    return {};
}

std::optional<int> value_of(const ValueNames& names, std::string_view text) {
    const std::string name = lowered(text);
    for (int value = 0; value < names.count; ++value)
        if (name == names.names[value]) return value;
    return std::nullopt;
}

std::string meant_value(const ValueNames& names, std::string_view text) {
    const auto near = nearest_name(lowered(text), {names.names, names.names + names.offered});
    return near ? fmt::format("did you mean {}? One of {}", *near, offered_names(names)) : "one of " + offered_names(names);
}

std::optional<bool> is_column_major(std::string_view text) {
    std::string name = lowered(text);
    if (name.ends_with("major")) name.erase(name.size() - 5);
    if (name.ends_with("_") || name.ends_with("-")) name.pop_back();
    if (name == "row") return false;
    if (name == "col" || name == "column") return true;
    return std::nullopt;
}

}  // namespace tmm
