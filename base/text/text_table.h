// A table in plain text, as wide as the screen: numbers are never cut. Where there is too little room the last column breaks into
// several lines, then columns are left out, the least important first.
#pragma once

#include <string>
#include <vector>

#include "base/text/terminal.h"

namespace tmm {

struct TableColumn {
    enum class Fit {
        whole,  // never broken
        wraps,  // the last of these breaks into lines of its own column
        below,  // follows what wraps on lines of its own where there is too little room for a column
    };
    std::string head;
    // Numbers stand at the right edge of their column.
    bool right = false;
    // A column of rank 0 is never left out; of the others the one with the largest rank is left out first.
    int rank = 0;
    Fit fit = Fit::whole;
    // The column is shown with --wide only.
    bool wide = false;
};

// The positions of a table's columns, which are known before the first row is.
class TableLayout {
public:
    // widths: the width of the widest cell of each column.
    TableLayout(std::vector<TableColumn> columns, std::vector<std::size_t> widths, const Screen& screen);

    // Both return lines that end with a line break. There are as many cells as columns.
    std::string head() const;
    std::string row(const std::vector<std::string>& cells) const;
    // The heads of the columns for which there is too little room.
    std::vector<std::string> left_out() const;

private:
    struct Place {
        std::size_t column;
        std::size_t width;
    };
    void fit();
    bool drop_one();
    std::size_t natural_width() const;
    std::size_t beside_width() const;
    std::string line(const std::vector<std::string>& cells) const;
    std::vector<std::string> wrapped_lines(const std::vector<std::string>& cells) const;

    std::vector<TableColumn> columns_;
    Screen screen_;
    std::vector<Place> places_;
    // Columns whose cells break into lines, or stand on lines of their own below the row; empty where all fits.
    std::vector<Place> broken_;
    // The column in which lines of broken_ begin. They stand below a row in whole lines of their own, or in a last column to its right.
    std::size_t broken_from_ = 0;
    bool broken_beside_ = false;
};

// A table whose rows are all known before the first is shown. A column in which nothing stands, or "-" alone, is left out.
class TextTable {
public:
    using Column = TableColumn;
    explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

    // A row has as many cells as there are columns.
    void add(std::vector<std::string> row);
    bool empty() const { return rows_.empty(); }
    // On a terminal a last line says which columns it has no room for.
    std::string text(const Screen& screen) const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

// "Left out for want of room: why; --wide shows all."
std::string left_out_text(const std::vector<std::string>& heads);

// Four significant digits without an exponent: "0.1234", "12.34", "123400".
std::string short_number(double value);

}  // namespace tmm
