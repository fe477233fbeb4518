#include "base/text/printable.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

namespace tmm {
namespace {

constexpr std::size_t kLongestQuote = 60;

// A code point and the bytes that it takes; 0 bytes where the text does not begin with well-formed UTF-8.
struct CodePoint {
    std::uint32_t value = 0;
    std::size_t bytes = 0;
};

CodePoint first_code_point(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(0) < 0x80) return {byte(0), 1};
    const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
    if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return {};
    std::uint32_t value = byte(0) & (0x7fu >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return {};
        value = value << 6 | (byte(i) & 0x3fu);
    }
    // The sequence is longer than need be, a surrogate, or beyond Unicode.
    if (value < (bytes == 3 ? 0x800u : bytes == 4 ? 0x10000u : 0x80u) || (value >= 0xd800 && value < 0xe000) || value > 0x10ffff) return {};
    return {value, bytes};
}

// C0, DEL, C1, line and paragraph separators, and the marks that change the direction of what follows.
bool is_control(std::uint32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

std::string escaped(std::string_view bytes) {
    if (bytes == "\n") return "\\n";
    if (bytes == "\t") return "\\t";
    if (bytes == "\r") return "\\r";
    std::string text;
    for (const char c : bytes) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    return text;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        const CodePoint c = first_code_point(text);
        const std::string_view bytes = text.substr(0, std::max<std::size_t>(c.bytes, 1));
        shown += c.bytes == 0 || is_control(c.value) ? escaped(bytes) : std::string(bytes);
        text.remove_prefix(bytes.size());
    }
    return shown;
}

std::string in_quotes(std::string_view text) {
    std::size_t end = std::min(text.size(), kLongestQuote);
    // The cut leaves no half of a character.
    while (end < text.size() && end > kLongestQuote - 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return fmt::format("'{}{}'", printable(text.substr(0, end)), end < text.size() ? "…" : "");
}

}  // namespace tmm
