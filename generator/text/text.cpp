// How the vocabulary is written and read.
#include "generator/text/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/error.h"

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

// The words that an epilogue may be made of.
std::string epilogue_words() {
    std::string words;
    for (const ProblemField& field : kProblemFields)
        for (int value = 1; field.epilogue_words && value < field.values.offered; ++value)
            if (const std::string_view word = field.epilogue_words[value]; !word.empty())
                words += fmt::format("{}{}", words.empty() ? "" : ", ", word);
    return words;
}

std::optional<TextFault> add_epilogue_word(std::string_view word, GemmProblem& problem) {
    const std::string remedy = "join some of " + epilogue_words() + " by '+', as in bias+gelu+residual; or write none";
    for (const ProblemField& field : kProblemFields) {
        for (int value = 1; field.epilogue_words && value < field.values.offered; ++value) {
            if (word.empty() || word != field.epilogue_words[value]) continue;
            if (field.get(problem) != 0)
                return TextFault{fmt::format("'{}' is given beside '{}'", word, field.epilogue_words[field.get(problem)]), remedy};
            field.set(problem, value);
            return std::nullopt;
        }
    }
    if (word == kClassWords[static_cast<int>(Epilogue::custom)])
        return TextFault{"an expression can't be given here", "give it to the library (tmm.h, expression)"};
    return TextFault{fmt::format("'{}' is no part of an epilogue", word), remedy};
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
std::string_view name_of(Activation activation) {
    return enum_name(activation, kActivationNames);
}
std::string_view name_of(BiasAxis axis) {
    return enum_name(axis, kBiasAxisNames);
}
std::string_view name_of(Result result) {
    return enum_name(result, kResultNames);
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
std::optional<TextFault> read_epilogue(std::string_view text, GemmProblem& problem) {
    for (const ProblemField& field : kProblemFields)
        if (field.epilogue_words) field.set(problem, 0);
    if (text == "none") return std::nullopt;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('+', begin), text.size());
        if (auto fault = add_epilogue_word(text.substr(begin, end - begin), problem)) return fault;
        begin = end + 1;
    }
    problem.epilogue = epilogue_class(problem.bias, problem.activation, problem.residual);
    return std::nullopt;
}

std::string epilogue_text(const GemmProblem& problem) {
    std::string text;
    for (const ProblemField& field : kProblemFields) {
        const std::string word = field.epilogue_words ? field.epilogue_words[field.get(problem)] : "";
        if (!word.empty()) text += text.empty() ? word : "+" + word;
    }
    return text.empty() ? "none" : text;
}

std::string to_text(const GemmProblem& p) {
    std::string text = fmt::format("{}x{}x{}", rows_of_c(p), columns_of_c(p), p.k);
    for (std::size_t i = 0; i < kWritten.size();) {
        const ProblemField& first = kProblemFields[kWritten[i]];
        if (first.epilogue_words) {
            if (const std::string value = epilogue_text(p); value != "none") text += fmt::format(" {}={}", first.key, value);
            while (i < kWritten.size() && kProblemFields[kWritten[i]].epilogue_words) ++i;
            continue;
        }
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
