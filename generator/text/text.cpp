// How the vocabulary is written and read.
#include "generator/text/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "generator/error.h"

namespace tmm {
namespace {

template <typename Enum>
Enum parse_enum(std::string_view text, const ValueNames& values, const char* what) {
    for (int value = 0; value < values.count; ++value)
        if (text == values.names[value]) return static_cast<Enum>(value);
    throw Error(ExitStatus::usage, fmt::format("'{}' is no {}", text, what), {}, "one of " + offered_names(values));
}

// Enumerators come out of databases, where any integer may stand.
template <typename Enum, int count>
std::string_view enum_name(Enum value, const char* const (&names)[count]) {
    const auto index = static_cast<unsigned>(value);
    return index < count ? names[index] : "?";
}

// The numbers of the fields that have a key, in the order of their words.
constexpr auto kWritten = [] {
    std::array<int, kProblemFieldCount> order{};
    for (int i = 0; i < kProblemFieldCount; ++i) order[static_cast<std::size_t>(i)] = i;
    std::sort(order.begin(), order.end(), [](int x, int y) {
        return kProblemFields[x].place < kProblemFields[y].place || (kProblemFields[x].place == kProblemFields[y].place && x < y);
    });
    return order;
}();

std::string value_text(const ProblemField& field, const GemmProblem& problem) {
    const i64 value = field.get(problem);
    if (!field.is_named()) return fmt::format("{}", value);
    return value >= 0 && value < field.values.count ? field.values.names[value] : "?";
}

}  // namespace

std::string_view name_of(ElementType type) {
    return enum_name(type, kElementTypeNames);
}
std::string_view name_of(ComputeMode mode) {
    return enum_name(mode, kComputeModeNames);
}
std::string_view name_of(Epilogue epilogue) {
    return enum_name(epilogue, kEpilogueNames);
}

std::string ops_name(Operation op_a, Operation op_b) {
    return {op_a == Operation::none ? 'n' : 't', op_b == Operation::none ? 'n' : 't'};
}

std::string offered_names(const ValueNames& values) {
    std::string text;
    for (int value = 0; value < values.offered; ++value) text += fmt::format("{}{}", value ? ", " : "", values.names[value]);
    return text;
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

std::string to_text(const GemmProblem& p) {
    std::string text = fmt::format("{}x{}x{}", p.m, p.n, p.k);
    for (std::size_t i = 0; i < kWritten.size();) {
        const ProblemField& first = kProblemFields[kWritten[i]];
        std::string value;
        bool is_written = false;
        for (; i < kWritten.size() && kProblemFields[kWritten[i]].place == first.place; ++i) {
            const ProblemField& field = kProblemFields[kWritten[i]];
            value += value_text(field, p);
            is_written |= field.key && field.get(p) != field.unwritten(p);
        }
        if (is_written) text += fmt::format(" {}={}", first.key, value);
    }
    return text;
}

}  // namespace tmm
