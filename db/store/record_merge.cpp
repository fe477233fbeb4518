// Merges records of other databases and of exports: those that are new take their places among the rows that are there.
#include <SQLiteCpp/Transaction.h>
#include <fmt/core.h>

#include <functional>
#include <unordered_map>

#include "base/error.h"
#include "db/store/merge_order.h"
#include "db/store/tuning_database_impl.h"

namespace tmm {
namespace {

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
