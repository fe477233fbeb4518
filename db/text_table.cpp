// Lays out a table.
#include "db/text_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace tmm {
namespace {

// Characters, where UTF-8 continuation bytes take no room.
std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

std::string TextTable::text(bool color) const {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        widths.push_back(width(columns_[i].head));
        for (const auto& row : rows_) widths.back() = std::max(widths.back(), width(row.at(i)));
    }
    const auto line = [&](const auto& cell) {
        std::string text;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const std::string padding(widths[i] - width(cell(i)), ' ');
            if (i) text += "  ";
            text += columns_[i].right ? padding + cell(i) : cell(i) + padding;
        }
        text.erase(text.find_last_not_of(' ') + 1);
        return text;
    };
    const std::string head = line([&](std::size_t i) -> const std::string& { return columns_[i].head; });
    std::string text = color ? "\x1b[1m" + head + "\x1b[0m\n" : head + "\n";
    for (const auto& row : rows_) text += line([&](std::size_t i) -> const std::string& { return row[i]; }) + "\n";
    return text;
}

std::string short_number(double value) {
    if (!std::isfinite(value)) return fmt::format("{}", value);
    if (value == 0) return "0";
    const int digits = 3 - static_cast<int>(std::floor(std::log10(std::abs(value))));
    return fmt::format("{:.{}f}", value, std::clamp(digits, 0, 9));
}

}  // namespace tmm
