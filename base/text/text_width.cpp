#include "base/text/text_width.h"

#include <algorithm>
#include <cstdint>

namespace tmm {

namespace {

struct Character {
    std::size_t bytes;
    std::uint32_t code;
};

// A byte that begins no valid sequence is a character of its own.
Character first_character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    const std::size_t bytes = lead < 0x80 ? 1 : (lead & 0xe0) == 0xc0 ? 2 : (lead & 0xf0) == 0xe0 ? 3 : (lead & 0xf8) == 0xf0 ? 4 : 1;
    if (bytes == 1 || bytes > text.size()) return {1, lead};
    std::uint32_t code = lead & (0xffU >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return {1, lead};
        code = code << 6 | (byte(i) & 0x3fU);
    }
    return {bytes, code};
}

bool within(std::uint32_t code, std::uint32_t first, std::uint32_t last) {
    return code >= first && code <= last;
}

std::size_t width_of(std::uint32_t code) {
    if (within(code, 0x300, 0x36f) || within(code, 0x200b, 0x200f) || within(code, 0x20d0, 0x20ff) || within(code, 0xfe00, 0xfe0f))
        return 0;
    if (within(code, 0x1100, 0x115f) || within(code, 0x2e80, 0xa4cf) || within(code, 0xac00, 0xd7a3) || within(code, 0xf900, 0xfaff) ||
        within(code, 0xfe30, 0xfe6f) || within(code, 0xff00, 0xff60) || within(code, 0xffe0, 0xffe6) || within(code, 0x1f300, 0x1faff) ||
        within(code, 0x20000, 0x3fffd))
        return 2;
    return 1;
}

// Bytes of the beginning that fits into so many columns, at least one character.
std::size_t fitting_bytes(std::string_view text, std::size_t columns) {
    std::size_t bytes = 0;
    std::size_t width = 0;
    while (bytes < text.size()) {
        const Character next = first_character(text.substr(bytes));
        width += width_of(next.code);
        if (width > columns && bytes > 0) break;
        bytes += next.bytes;
    }
    return bytes;
}

// The place where a line ends that must end within so many bytes.
std::size_t line_end(std::string_view text, std::size_t fitting) {
    if (fitting >= text.size()) return text.size();
    // The space itself may stand beyond the edge.
    const auto space = text.rfind(' ', fitting);
    if (space != std::string_view::npos && text.find_first_not_of(' ') < space) return space;
    const auto joint = text.find_last_of("_+,/", fitting - 1);
    return joint != std::string_view::npos && joint > 0 ? joint + 1 : fitting;
}

}  // namespace

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) {
        const Character next = first_character(text);
        width += width_of(next.code);
        text.remove_prefix(next.bytes);
    }
    return width;
}

std::string hanging(std::string_view text, std::size_t columns, std::size_t indent) {
    if (columns == 0) return std::string(text);
    std::string out;
    std::size_t used = 0;
    while (true) {
        const std::size_t room = columns > used ? columns - used : 1;
        const std::size_t end = line_end(text, fitting_bytes(text, room));
        out += text.substr(0, end);
        text.remove_prefix(end);
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        if (text.empty()) return out;
        out += '\n';
        out.append(indent, ' ');
        used = indent;
    }
}

std::string shortened(std::string_view text, std::size_t columns) {
    if (display_width(text) <= columns) return std::string(text);
    if (columns <= 1) return columns == 0 ? "" : "…";
    return std::string(text.substr(0, fitting_bytes(text, columns - 1))) + "…";
}

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
