// A table in plain text: columns as wide as their widest cell, a bold head on terminals.
#pragma once

#include <string>
#include <vector>

namespace tmm {

class TextTable {
public:
    struct Column {
        std::string head;
        // Numbers stand at the right edge of their column.
        bool right = false;
    };

    explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

    // As many cells as columns.
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    bool empty() const { return rows_.empty(); }
    std::string text(bool color) const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

// Four significant digits without an exponent: "0.1234", "12.34", "123400".
std::string short_number(double value);

}  // namespace tmm
