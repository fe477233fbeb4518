// Merges records of other databases and of exports: those that are new take their places among the rows that are there.
#include <SQLiteCpp/Transaction.h>
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "db/store/merge.h"
#include "db/store/tuning_database_impl.h"

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

// A date of a clock that was ahead says nothing, and goes before no other.
template <class Record>
OrderedRow ordered(const Record& record) {
    return {.content = content_of(record), .time = record.time <= latest_credible_time() ? record.time : kEarliestTime};
}

// The rows of a table, and those of another database that are to be among them.
class Merging {
public:
    using Order = std::vector<OrderedRow>(const std::vector<OrderedRow>& here, const std::vector<OrderedRow>& there);
    Merging(SQLite::Database& database, const char* table, Order& order) : database_(database), table_(table), order_(order) {}

    template <class Stored>
    void add_stored(const Stored& stored) {
        here_.push_back(ordered(stored.record));
        id_of_[here_.back().content] = stored.id;
    }
    // The record must outlive this object.
    template <class Record, class Store>
    void add(const Record& record, Store& store) {
        there_.push_back(ordered(record));
        store_[there_.back().content] = [&record, &store] { store.store(record); };
    }

    // Returns how many rows were new.
    int run() {
        SQLite::Statement move(database_, fmt::format("UPDATE {0} SET id = (SELECT max(id) + 1 FROM {0}) WHERE id = ?", table_));
        int inserted = 0;
        // The rows before the first one that is out of place stay; from there on all are written behind them.
        bool in_place = true;
        std::int64_t last = 0;
        for (const OrderedRow& row : order_(here_, there_)) {
            const auto known = id_of_.find(row.content);
            in_place = in_place && known != id_of_.end() && known->second > last;
            if (in_place) {
                last = known->second;
            } else if (known != id_of_.end()) {
                move.bind(1, known->second);
                move.exec();
                move.reset();
            } else {
                store_.at(row.content)();
                ++inserted;
            }
        }
        return inserted;
    }

private:
    SQLite::Database& database_;
    const char* table_;
    Order& order_;
    std::vector<OrderedRow> here_, there_;
    std::unordered_map<std::string, std::int64_t> id_of_;
    std::unordered_map<std::string, std::function<void()>> store_;
};

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

TuningDatabase::Inserted TuningDatabase::Impl::merge_in(const std::vector<TuningRecord>& records) {
    const std::vector<StoredRecord> stored = load({}, nullptr);
    const auto merge_kind = [&](TuningRecord::Kind kind) {
        Merging merging(database, table_of(kind), merged_order);
        for (const StoredRecord& row : stored)
            if (row.record.kind == kind) merging.add_stored(row);
        for (const TuningRecord& record : records)
            if (record.kind == kind) merging.add(record, *this);
        return merging.run();
    };
    return {.measurements = merge_kind(TuningRecord::Kind::measurement), .selections = merge_kind(TuningRecord::Kind::selection)};
}

int TuningDatabase::Impl::merge_in(const std::vector<RatesRecord>& records) {
    Merging merging(database, "machine_rates", time_order);
    for (const StoredRates& row : load_rates(nullptr)) merging.add_stored(row);
    for (const RatesRecord& record : records) merging.add(record, *this);
    return merging.run();
}

TuningDatabase::Inserted TuningDatabase::insert(const std::vector<TuningRecord>& records) {
    return insert(records, {});
}

TuningDatabase::Inserted TuningDatabase::insert(const std::vector<TuningRecord>& records, const std::vector<RatesRecord>& rates) {
    return guarded(impl_->file, *impl_->limit, [&] {
        SQLite::Transaction transaction(impl_->database, SQLite::TransactionBehavior::IMMEDIATE);
        Inserted inserted = impl_->merge_in(records);
        inserted.rates = impl_->merge_in(rates);
        transaction.commit();
        return inserted;
    });
}

TuningDatabase::Inserted TuningDatabase::merge(const std::filesystem::path& other) {
    TuningDatabase source(other, Mode::read_only);
    LeftOut left_out;
    const std::vector<TuningRecord> records = source.records({}, &left_out);
    const std::vector<RatesRecord> rates = source.rates_records(&left_out);
    Inserted inserted = insert(records, rates);
    inserted.left_out = std::move(left_out);
    return inserted;
}

}  // namespace tmm
