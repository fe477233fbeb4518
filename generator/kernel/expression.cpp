#include "generator/kernel/expression.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <sstream>
#include <vector>

namespace tmm {
namespace {

// The name of the file that compilers take the expression to stand in.
constexpr std::string_view kFile = "expression";
// The same of the line that takes what the expression gives.
constexpr std::string_view kResultFile = "result of expression";

constexpr std::size_t kLongest = 4096;

// What an expression needs of C++'s characters: no statement, no literal text, no line of the preprocessor.
constexpr std::string_view kOtherCharacters = "_+-*/%<>=!&|^~?:,.()[] \t\n";

// C++'s other spellings of [, ], {, } and #, which would bring in what the characters above leave out.
constexpr std::string_view kDigraphs[] = {"<:", ":>", "<%", "%>", "%:"};

bool is_of_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::optional<std::size_t> word_at(std::string_view text, std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !is_of_word(text[at - 1])) && (end == text.size() || !is_of_word(text[end]))) return at;
    }
    return std::nullopt;
}

bool may_stand_in_expression(char c) {
    return is_of_word(c) || kOtherCharacters.find(c) != std::string_view::npos;
}

}  // namespace

std::optional<std::string> why_no_expression(std::string_view text) {
    if (text.find_first_not_of(" \t\n") == std::string_view::npos) return "it is empty";
    if (text.size() > kLongest) return fmt::format("it has {} characters, more than {}", text.size(), kLongest);
    if (const auto at = word_at(text, "throw")) return fmt::format("'throw' at character {} can't stand in an expression", *at + 1);
    std::vector<char> open;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (!may_stand_in_expression(c))
            return fmt::format("character {} can't stand in an expression: {}", i + 1,
                               c > ' ' && c < 127 ? fmt::format("'{}'", c) : fmt::format("code {}", static_cast<unsigned char>(c)));
        if (text.substr(i, 2) == "//" || text.substr(i, 2) == "/*") return fmt::format("a comment begins at character {}", i + 1);
        for (const std::string_view digraph : kDigraphs)
            if (text.substr(i, digraph.size()) == digraph)
                return fmt::format("'{}' at character {} can't stand in an expression", digraph, i + 1);
        if (c == '(' || c == '[') open.push_back(c);
        if (c != ')' && c != ']') continue;
        if (open.empty() || (open.back() == '(') != (c == ')')) return fmt::format("the '{}' at character {} closes nothing", c, i + 1);
        open.pop_back();
    }
    if (!open.empty()) return fmt::format("a '{}' is not closed", open.back());
    return std::nullopt;
}

bool names_place(std::string_view text) {
    return word_at(text, "row") || word_at(text, "column");
}

namespace {

// An assertion of templates about the expression, such as "it gives an address, not a number".
std::string words_of_assertion(const std::string& log) {
    constexpr std::string_view kBeginning = "the expression ";
    std::istringstream lines(log);
    std::string line;
    while (std::getline(lines, line)) {
        const auto at = line.find(kBeginning, std::min(line.find("error"), line.size()));
        if (at == std::string::npos) continue;
        const std::string words = line.substr(at + kBeginning.size());
        return "it " + words.substr(0, words.find('"'));
    }
    return "";
}

// The first error, which stands elsewhere, of a log that names the expression or its result as what led to it.
std::string words_of_consequence(const std::string& log) {
    std::istringstream lines(log);
    std::string line, error;
    bool is_consequence = false;
    while (std::getline(lines, line)) {
        if (const auto at = line.find("error: "); error.empty() && at != std::string::npos) error = line.substr(at + 7);
        is_consequence |=
            line.starts_with(std::string(kFile) + ":") || line.starts_with(kResultFile) || line.ends_with(" of " + std::string(kFile));
    }
    return is_consequence ? error : "";
}

}  // namespace

// NVRTC writes "expression(1): error: …", then the line and a mark below the place; g++ "expression:1:9: error: …" and the same two.
std::string words_on_expression(const std::string& log) {
    if (std::string words = words_of_assertion(log); !words.empty()) return words;
    std::istringstream lines(log);
    std::string words, line;
    bool is_ours = false;
    while (std::getline(lines, line)) {
        const bool begins_remark = line.find(": error") != std::string::npos || line.find(": warning") != std::string::npos ||
                                   line.find(": note") != std::string::npos || line.find(": In ") != std::string::npos;
        if (begins_remark) is_ours = line.compare(0, kFile.size(), kFile) == 0 && line.find(": error") != std::string::npos;
        if (!is_ours || line.find_first_not_of(" \t") == std::string::npos) continue;
        if (!words.empty()) words += '\n';
        words += line;
    }
    return words.empty() ? words_of_consequence(log) : words;
}

std::string definition_of(const Expression& expression) {
    return fmt::format(
        "    __device__ static float expression(float x, tmm::i64 {0}, tmm::i64 {1}, tmm::i64 batch, float bias, float residual,\n"
        "                                       float p0, float p1, float p2, float p3) {{\n"
        "        static_cast<void>(x), static_cast<void>(row), static_cast<void>(column), static_cast<void>(batch);\n"
        "        static_cast<void>(bias), static_cast<void>(residual);\n"
        "        static_cast<void>(p0), static_cast<void>(p1), static_cast<void>(p2), static_cast<void>(p3);\n"
        "#line 1 \"{4}\"\n"
        "        return tmm::expression::as_float(((\n"
        "#line 1 \"{2}\"\n"
        "{3}), tmm::expression::End()));\n"
        "#line 1 \"kernel\"\n"
        "    }}\n",
        expression.column_major ? "column" : "row", expression.column_major ? "row" : "column", kFile, expression.text, kResultFile);
}

std::string short_name_of(const Expression& expression) {
    return fmt::format("{:08x}", static_cast<unsigned>(XXH3_64bits(expression.text.data(), expression.text.size())));
}

}  // namespace tmm
