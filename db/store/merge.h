// The order of a table's rows once two databases are merged. The newest row is the one written last, so the order says which decision
// counts; it must be the same whichever database takes in the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tmm {

struct OrderedRow {
    // All that the row says, which is its identity.
    std::string content;
    // Seconds since 1970 by the clock of the machine that wrote it.
    std::int64_t time = 0;

    friend bool operator==(const OrderedRow&, const OrderedRow&) = default;
};

// Both lists are in the order their rows were written; where rows are equal, the last place counts. Each row stands once in the result. A
// database that has a row of the other behind one of its own knows that it came later, whatever the clocks said; where neither knows, the
// time decides, then the content. Rows of one second that follow each other are sorted by content first; only where a list is empty, or
// equal to the other, they stay as they are. merged_order(x, y) = merged_order(y, x), and merging a list again changes nothing. Where times
// go back in no list, as store_new() sees to, rows go by time_order(), and merging is associative.
std::vector<OrderedRow> merged_order(const std::vector<OrderedRow>& here, const std::vector<OrderedRow>& there);

// The rows of both by time, then content, whatever order they were written in; each stands once. What no row of a table depends on needs
// no more than this, and its merging is associative even where clocks went back.
std::vector<OrderedRow> time_order(const std::vector<OrderedRow>& here, const std::vector<OrderedRow>& there);

}  // namespace tmm
