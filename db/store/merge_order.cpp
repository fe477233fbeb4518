#include "db/store/merge_order.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_set>

namespace tmm {
namespace {

using Contents = std::unordered_set<std::string_view>;

bool is_earlier(const OrderedRow& x, const OrderedRow& y) {
    return std::tie(x.time, x.content) < std::tie(y.time, y.content);
}

// One database's rows, taken from the last to the first.
class Remaining {
public:
    explicit Remaining(const std::vector<OrderedRow>& rows) : rows_(rows), left_(rows.size()) {
        for (const OrderedRow& row : rows_) contents_.insert(row.content);
    }

    // The last row that was not taken; null where there is none.
    const OrderedRow* last(const Contents& taken) {
        while (left_ > 0 && taken.contains(rows_[left_ - 1].content)) --left_;
        return left_ > 0 ? &rows_[left_ - 1] : nullptr;
    }
    bool contains(const OrderedRow& row) const { return contents_.contains(row.content); }

private:
    const std::vector<OrderedRow>& rows_;
    std::size_t left_;
    Contents contents_;
};

std::vector<OrderedRow> with_sorted_seconds(std::vector<OrderedRow> rows) {
    for (auto begin = rows.begin(); begin != rows.end();) {
        const auto end = std::find_if(begin, rows.end(), [&](const OrderedRow& row) { return row.time != begin->time; });
        std::sort(begin, end, is_earlier);
        begin = end;
    }
    return rows;
}

// Takes rows from the end of either list, always the later one.
std::vector<OrderedRow> joined(const std::vector<OrderedRow>& here, const std::vector<OrderedRow>& there) {
    Remaining a(here), b(there);
    Contents taken;
    std::vector<OrderedRow> order;
    while (true) {
        const OrderedRow* x = a.last(taken);
        const OrderedRow* y = b.last(taken);
        if (!x && !y) break;
        if (x && y) {
            const bool b_knows_y_is_later = b.contains(*x), a_knows_x_is_later = a.contains(*y);
            const bool y_is_later = b_knows_y_is_later != a_knows_x_is_later ? b_knows_y_is_later : is_earlier(*x, *y);
            (y_is_later ? x : y) = nullptr;
        }
        order.push_back(x ? *x : *y);
        taken.insert(x ? x->content : y->content);
    }
    std::reverse(order.begin(), order.end());
    return order;
}

}  // namespace

std::vector<OrderedRow> merged_order(const std::vector<OrderedRow>& here, const std::vector<OrderedRow>& there) {
    if (here.empty() || there.empty() || here == there) return joined(here, there);
    return joined(with_sorted_seconds(here), with_sorted_seconds(there));
}

std::vector<OrderedRow> time_order(const std::vector<OrderedRow>& here, const std::vector<OrderedRow>& there) {
    std::vector<OrderedRow> rows = here;
    rows.insert(rows.end(), there.begin(), there.end());
    std::sort(rows.begin(), rows.end(), is_earlier);
    rows.erase(std::unique(rows.begin(), rows.end(), [](const OrderedRow& x, const OrderedRow& y) { return x.content == y.content; }),
               rows.end());
    return rows;
}

}  // namespace tmm
