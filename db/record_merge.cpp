// Merges records of other databases and of exports: those that are new take their places among the rows that are there.
#include <SQLiteCpp/Transaction.h>
#include <fmt/core.h>

#include <unordered_map>

#include "db/merge_order.h"
#include "db/tuning_database_impl.h"
#include "generator/error.h"

namespace tmm {
namespace {

// Clocks of machines that merge their databases differ by less than this.
constexpr std::int64_t kClockTolerance = 24 * std::int64_t{3600};

// A date of the future is one of a clock that was ahead. It says nothing, and goes before no other.
OrderedRow ordered(const TuningRecord& record, std::int64_t latest) {
    return {.content = content_of(record), .time = record.time <= latest ? record.time : kEarliestTime};
}

}  // namespace

int TuningDatabase::Impl::merge_in(TuningRecord::Kind kind, const std::vector<StoredRecord>& stored,
                                   const std::vector<TuningRecord>& records) {
    const std::int64_t latest = now() + kClockTolerance;
    std::vector<OrderedRow> here, there;
    std::unordered_map<std::string, std::int64_t> id_of;
    std::unordered_map<std::string, const TuningRecord*> record_of;
    for (const auto& [id, record] : stored) {
        if (record.kind != kind) continue;
        here.push_back(ordered(record, latest));
        id_of[here.back().content] = id;
    }
    for (const auto& record : records) {
        if (record.kind != kind) continue;
        there.push_back(ordered(record, latest));
        record_of[there.back().content] = &record;
    }
    SQLite::Statement move(database, fmt::format("UPDATE {0} SET id = (SELECT max(id) + 1 FROM {0}) WHERE id = ?", table_of(kind)));
    int inserted = 0;
    // The rows before the first one that is out of place stay; from there on all are written behind them.
    bool in_place = true;
    std::int64_t last = 0;
    for (const OrderedRow& row : merged_order(here, there)) {
        const auto known = id_of.find(row.content);
        in_place = in_place && known != id_of.end() && known->second > last;
        if (in_place) {
            last = known->second;
        } else if (known != id_of.end()) {
            move.bind(1, known->second);
            move.exec();
            move.reset();
        } else {
            store(*record_of.at(row.content));
            ++inserted;
        }
    }
    return inserted;
}

TuningDatabase::Inserted TuningDatabase::insert(const std::vector<TuningRecord>& records) {
    return guarded(impl_->file, [&] {
        SQLite::Transaction transaction(impl_->database, SQLite::TransactionBehavior::IMMEDIATE);
        const auto stored = impl_->load({}, nullptr);
        const Inserted inserted{.measurements = impl_->merge_in(TuningRecord::Kind::measurement, stored, records),
                                .selections = impl_->merge_in(TuningRecord::Kind::selection, stored, records)};
        transaction.commit();
        return inserted;
    });
}

TuningDatabase::Inserted TuningDatabase::merge(const std::filesystem::path& other) {
    const auto open = [&] {
        try {
            return TuningDatabase(other, Mode::read_only);
        } catch (const Error&) {
            // A killed writer's journal and an older version need a connection that may write.
            return TuningDatabase(other, Mode::read_write);
        }
    };
    return insert(open().records());
}

}  // namespace tmm
