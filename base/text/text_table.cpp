// Lays out a table.
#include "base/text/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/text/printable.h"
#include "base/text/text_width.h"

namespace tmm {
namespace {

using Fit = TableColumn::Fit;
constexpr std::size_t kGap = 2;
// Least width of a column of broken lines; and, where there is no room for one, the indent of lines below a row.
constexpr std::size_t kLeastBroken = 26;
constexpr std::size_t kIndent = 4;
// Least width of the first column, so that one long cell does not push others out; longer cells stand on a line of their own.
constexpr std::size_t kLeastFirst = 16;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find('\n', begin), text.size());
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

}  // namespace

TableLayout::TableLayout(std::vector<TableColumn> columns, std::vector<std::size_t> widths, const Screen& screen)
    : columns_(std::move(columns)), screen_(screen) {
    if (screen_.wide) screen_.columns = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i)
        if (screen_.wide || !columns_[i].wide) places_.push_back({i, std::max(widths.at(i), display_width(columns_[i].head))});
    if (screen_.columns > 0) fit();
}

std::size_t TableLayout::natural_width() const {
    std::size_t width = 0;
    for (const Place& place : places_) width += place.width + (width ? kGap : 0);
    return width;
}

bool TableLayout::drop_one() {
    std::vector<Place>* from = nullptr;
    std::size_t at = 0;
    int largest = 1;
    // Where several have the same rank, the last one is dropped.
    for (std::vector<Place>* places : {&places_, &broken_})
        for (std::size_t i = 0; i < places->size(); ++i)
            if (const int rank = columns_[(*places)[i].column].rank; rank >= largest) from = places, at = i, largest = rank;
    if (from == nullptr) return false;
    from->erase(from->begin() + static_cast<std::ptrdiff_t>(at));
    return true;
}

std::size_t TableLayout::beside_width() const {
    std::size_t longest = 0;
    for (const Place& place : broken_) longest = std::max(longest, place.width);
    return broken_.empty() ? 0 : std::min(longest, kLeastBroken) + kGap;
}

void TableLayout::fit() {
    if (natural_width() <= screen_.columns) return;
    const auto is_whole = [&](const Place& place) { return columns_[place.column].fit == Fit::whole; };
    std::copy_if(places_.begin(), places_.end(), std::back_inserter(broken_), [&](const Place& place) { return !is_whole(place); });
    std::erase_if(places_, [&](const Place& place) { return !is_whole(place); });
    const std::size_t cap = std::min(places_.front().width, std::max(kLeastFirst, screen_.columns * 2 / 5));
    const auto needed = [&] { return natural_width() - places_.front().width + cap; };
    while (needed() + beside_width() > screen_.columns && drop_one()) {
    }
    broken_beside_ = !broken_.empty() && needed() + beside_width() <= screen_.columns;
    const std::size_t others = natural_width() - places_.front().width + (broken_beside_ ? beside_width() : 0);
    const std::size_t room = screen_.columns > others ? screen_.columns - others : 0;
    places_.front().width = std::min(places_.front().width, std::max(room, std::min<std::size_t>(cap, kLeastFirst)));
    broken_from_ = broken_beside_ ? natural_width() + kGap : kIndent;
}

std::string TableLayout::line(const std::vector<std::string>& cells) const {
    std::string text;
    for (const Place& place : places_) {
        if (&place != &places_.front()) text.append(kGap, ' ');
        const std::string& cell = cells[place.column];
        const std::size_t width = display_width(cell);
        const std::string padding(place.width > width ? place.width - width : 0, ' ');
        text += columns_[place.column].right ? padding + cell : cell + padding;
    }
    return text;
}

std::vector<std::string> TableLayout::wrapped_lines(const std::vector<std::string>& cells) const {
    std::vector<std::string> lines;
    const std::size_t room = screen_.columns > broken_from_ ? screen_.columns - broken_from_ : 1;
    for (const Place& place : broken_) {
        if (cells[place.column].empty()) continue;
        for (std::string& line : lines_of(hanging(cells[place.column], room, 0))) lines.push_back(std::move(line));
    }
    return lines;
}

std::string TableLayout::head() const {
    std::vector<std::string> heads;
    for (const TableColumn& column : columns_) heads.push_back(column.head);
    std::string text = line(heads);
    if (broken_beside_) {
        std::string last;
        for (const Place& place : broken_) last += (last.empty() ? "" : " / ") + heads[place.column];
        text.append(kGap, ' ') += shortened(last, screen_.columns - broken_from_);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return screen_.color ? "\x1b[1m" + text + "\x1b[0m\n" : text + "\n";
}

std::vector<std::string> TableLayout::left_out() const {
    std::vector<std::string> heads;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const auto is_here = [&](const Place& place) { return place.column == i; };
        const bool is_wanted = screen_.wide || !columns_[i].wide;
        if (is_wanted && std::ranges::none_of(places_, is_here) && std::ranges::none_of(broken_, is_here))
            heads.push_back(columns_[i].head);
    }
    return heads;
}

std::string TableLayout::row(const std::vector<std::string>& texts) const {
    std::vector<std::string> cells;
    for (const std::string& text : texts) cells.push_back(printable(text));
    std::string text;
    std::string& first = cells[places_.front().column];
    if (screen_.columns > 0 && display_width(first) > places_.front().width) {
        text = hanging(first, screen_.columns, kIndent) + "\n";
        first.clear();
    }
    const auto add = [&](std::string one) {
        one.erase(one.find_last_not_of(' ') + 1);
        text += one + "\n";
    };
    std::string begin = line(cells);
    std::vector<std::string> rest = wrapped_lines(cells);
    if (broken_beside_ && !rest.empty()) {
        begin.append(kGap, ' ') += rest.front();
        rest.erase(rest.begin());
    }
    add(begin);
    for (const std::string& one : rest) add(std::string(broken_from_, ' ') + one);
    return text;
}

void TextTable::add(std::vector<std::string> row) {
    rows_.push_back(std::move(row));
}

std::string TextTable::text(const Screen& screen) const {
    std::vector<std::size_t> widths(columns_.size(), 0);
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < widths.size(); ++i)
            if (row.at(i) != "-") widths[i] = std::max(widths[i], display_width(printable(row[i])));
    std::vector<TableColumn> columns;
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        if (widths[i] > 0) used.push_back(i);
    }
    std::vector<std::size_t> used_widths;
    for (const std::size_t i : used) columns.push_back(columns_[i]), used_widths.push_back(widths[i]);
    if (columns.empty()) return "";
    const TableLayout layout(columns, used_widths, screen);
    std::string text = layout.head();
    for (const auto& row : rows_) {
        std::vector<std::string> cells;
        for (const std::size_t i : used) cells.push_back(row[i]);
        text += layout.row(cells);
    }
    const std::vector<std::string> left_out = layout.left_out();
    if (screen.columns > 0 && !left_out.empty()) text += wrapped(left_out_text(left_out), screen.columns);
    return text;
}

std::string left_out_text(const std::vector<std::string>& heads) {
    return fmt::format("Left out for want of room: {}; --wide shows all.", fmt::join(heads, ", "));
}

std::string short_number(double value) {
    if (!std::isfinite(value)) return fmt::format("{}", value);
    if (value == 0) return "0";
    const int digits = 3 - static_cast<int>(std::floor(std::log10(std::abs(value))));
    return fmt::format("{:.{}f}", value, std::clamp(digits, 0, 9));
}

}  // namespace tmm
