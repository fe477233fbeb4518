#include "generator/compile/expression.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <sstream>
#include <vector>

namespace tmm {
namespace {

// The name of the file that compilers take the expression to stand in.
constexpr std::string_view kFile = "expression";

constexpr std::size_t kLongest = 4096;

// What an expression needs of C++'s characters: no statement, no literal text, no line of the preprocessor.
constexpr std::string_view kOtherCharacters = "_+-*/%<>=!&|^~?:,.()[] \t\n";

// C++'s other spellings of [, ], {, } and #, which would bring in what the characters above leave out.
constexpr std::string_view kDigraphs[] = {"<:", ":>", "<%", "%>", "%:"};

bool may_stand_in_expression(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || kOtherCharacters.find(c) != std::string_view::npos;
}

}  // namespace

std::optional<std::string> why_no_expression(std::string_view text) {
    if (text.find_first_not_of(" \t\n") == std::string_view::npos) return "it is empty";
    if (text.size() > kLongest) return fmt::format("it has {} characters, more than {}", text.size(), kLongest);
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

// NVRTC writes "expression(1): error: …", then the line and a mark below the place; g++ "expression:1:9: error: …" and the same two.
std::string words_on_expression(const std::string& log) {
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
    return words;
}

std::string definition_of(const Expression& expression) {
    return fmt::format(
        "    __device__ static float expression(float x, tmm::i64 {0}, tmm::i64 {1}, tmm::i64 batch, float bias, float residual,\n"
        "                                       float p0, float p1, float p2, float p3) {{\n"
        "        static_cast<void>(x), static_cast<void>(row), static_cast<void>(column), static_cast<void>(batch);\n"
        "        static_cast<void>(bias), static_cast<void>(residual);\n"
        "        static_cast<void>(p0), static_cast<void>(p1), static_cast<void>(p2), static_cast<void>(p3);\n"
        "        return static_cast<float>(\n"
        "#line 1 \"{2}\"\n"
        "{3});\n"
        "#line 1 \"kernel\"\n"
        "    }}\n",
        expression.column_major ? "column" : "row", expression.column_major ? "row" : "column", kFile, expression.text);
}

std::string short_name_of(const Expression& expression) {
    return fmt::format("{:08x}", static_cast<unsigned>(XXH3_64bits(expression.text.data(), expression.text.size())));
}

}  // namespace tmm
