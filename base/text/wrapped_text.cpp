#include "base/text/wrapped_text.h"

#include <algorithm>

namespace tmm {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2;

}  // namespace

std::size_t columns(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
    std::string lines(indent, ' ');
    std::size_t column = indent;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        if (word.empty()) continue;
        const bool is_first = column == indent;
        if (!is_first && column + 1 + columns(word) > width) {
            lines += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (!is_first) {
            lines += ' ';
            ++column;
        }
        lines += word;
        column += columns(word);
    }
    return lines + "\n";
}

std::string two_columns(const std::vector<Term>& terms, std::size_t width) {
    std::size_t widest = 0;
    for (const Term& term : terms)
        if (const std::size_t size = columns(term.name); size <= width / 3) widest = std::max(widest, size);
    const std::size_t left = kIndent + widest + kGap;
    std::string text;
    for (const Term& term : terms) {
        const std::string meaning = wrapped(term.meaning, width, left);
        text += std::string(kIndent, ' ') + term.name;
        if (const std::size_t used = kIndent + columns(term.name); used + kGap <= left)
            text += std::string(left - used, ' ') + meaning.substr(left);
        else
            text += "\n" + meaning;
    }
    return text;
}

}  // namespace tmm
