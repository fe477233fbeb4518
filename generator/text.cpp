// How the vocabulary is written and read.
#include "generator/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <vector>

#include "generator/error.h"
#include "generator/nearest_name.h"

namespace tmm {
namespace {

constexpr std::string_view kElementTypes[] = {"f32", "f16", "bf16", "f64"};
constexpr std::string_view kComputeModes[] = {"f32", "f32_strict", "tf32", "f64"};
constexpr std::string_view kEpilogues[] = {"none", "bias", "activation", "custom"};

template <typename Enum, std::size_t N>
Enum parse_enum(std::string_view text, const std::string_view (&names)[N], const char* what) {
    const auto* found = std::find(std::begin(names), std::end(names), text);
    if (found != std::end(names)) return static_cast<Enum>(found - std::begin(names));
    std::string valid;
    for (const auto name : names) valid += fmt::format("{}{}", valid.empty() ? "" : ", ", name);
    throw Error(ExitStatus::usage, fmt::format("'{}' is no {}", text, what), {}, "one of " + valid);
}

// Enumerators come out of databases, where any integer may stand.
template <typename Enum, std::size_t N>
std::string_view enum_name(Enum value, const std::string_view (&names)[N]) {
    const auto index = static_cast<std::size_t>(value);
    return index < N ? names[index] : "?";
}

std::string value_text(const Parameter& parameter, int value) {
    if (parameter.value_names && value >= 0 && value < parameter.value_count) return parameter.value_names[value];
    return std::to_string(value);
}

std::optional<int> parse_int(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string parameter_names() {
    std::string names;
    for (const Parameter& parameter : kParameters) names += fmt::format("{}{}", names.empty() ? "" : ", ", parameter.name);
    return names;
}

int parse_value(const Parameter& parameter, std::string_view text) {
    if (parameter.value_names) {
        std::string valid;
        for (int i = 0; i < parameter.value_count; ++i) {
            if (text == parameter.value_names[i]) return i;
            valid += fmt::format("{}{}", i ? ", " : "", parameter.value_names[i]);
        }
        throw Error(ExitStatus::usage, fmt::format("{}: '{}' is not one of its values", parameter.name, text), {}, "one of " + valid);
    }
    constexpr int kLargest = 1 << 15;  // no parameter means anything beyond it, and the product of two fits an int
    const auto value = parse_int(text);
    if (!value || *value < 0 || *value > kLargest)
        throw Error(ExitStatus::usage, fmt::format("{}: '{}' is not a whole number from 0 to {}", parameter.name, text, kLargest), {},
                    parameter.help);
    return *value;
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
    return parse_enum<ElementType>(text, kElementTypes, "element type");
}
ComputeMode parse_compute_mode(std::string_view text) {
    return parse_enum<ComputeMode>(text, kComputeModes, "compute mode");
}
Epilogue parse_epilogue(std::string_view text) {
    return parse_enum<Epilogue>(text, kEpilogues, "epilogue");
}

std::string to_text(const KernelConfig& config) {
    std::string text = "family=" + value_text(kParameters[0], config.family);
    for (const Parameter& parameter : kParameters)
        if (parameter.member != &KernelConfig::family && config.*parameter.member != parameter.neutral)
            text += fmt::format(",{}={}", parameter.name, value_text(parameter, config.*parameter.member));
    return text;
}

KernelConfig parse_config(std::string_view text) {
    KernelConfig config;
    bool seen[kParameterCount] = {};
    while (true) {
        const auto comma = text.find(',');
        const std::string_view field = text.substr(0, comma);
        const auto equals = field.find('=');
        if (equals == std::string_view::npos)
            throw Error(ExitStatus::usage, fmt::format("'{}' in a config is not name=value", field), {},
                        "write it like family=tiled,block_m=16,block_n=16,block_k=16");
        const std::string_view name = field.substr(0, equals);
        const auto* parameter =
            std::find_if(std::begin(kParameters), std::end(kParameters), [&](const Parameter& p) { return name == p.name; });
        if (parameter == std::end(kParameters)) {
            std::vector<std::string_view> names;
            for (const Parameter& known : kParameters) names.emplace_back(known.name);
            const auto nearest = nearest_name(name, names);
            throw Error(ExitStatus::usage, fmt::format("a config has no field '{}'", name), {},
                        nearest ? fmt::format("did you mean {}?", *nearest) : "its fields are " + parameter_names());
        }
        bool& repeated = seen[parameter - kParameters];
        if (repeated) throw Error(ExitStatus::usage, fmt::format("{} is given twice in a config", name));
        repeated = true;
        config.*parameter->member = parse_value(*parameter, field.substr(equals + 1));
        if (comma == std::string_view::npos) return config;
        text.remove_prefix(comma + 1);
    }
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
        if (p.stride_a != stored_rows_a(p) * p.lda) add("stride_a", p.stride_a);
        if (p.stride_b != stored_rows_b(p) * p.ldb) add("stride_b", p.stride_b);
        if (p.stride_c != p.m * p.ldc) add("stride_c", p.stride_c);
    }
    if (p.alignment != 16) add("align", p.alignment);
    if (p.reads_c) add("beta", 1);
    if (p.epilogue != Epilogue::none) add("epilogue", name_of(p.epilogue));
    return text;
}

}  // namespace tmm
