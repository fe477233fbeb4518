// What was measured of devices themselves: stored, read with checks, and found for a device.
#include <SQLiteCpp/Transaction.h>
#include <fmt/core.h>

#include <limits>

#include "base/log.h"
#include "db/store/tuning_database_impl.h"
#include "generator/machine/device_info.h"

namespace tmm {
namespace {

std::string rate_columns() {
    std::string columns;
    for (const RateField& field : kRateFields) columns += fmt::format("r.{}, ", field.name);
    return columns + "r.measured_at";
}

void read_rates(RowReader& row, RatesRecord& record) {
    read_environment(row, record.environment);
    for (const RateField& field : kRateFields)
        record.rates.*field.member = row.real_or(field.name, 0, {.lowest = field.least, .highest = field.most});
    record.time = row.integer("measured_at", kEarliestTime, kLatestTime);
    row.check(why_untrusted(record.rates, record.environment.device));
}

std::vector<NamedCell> values_of(const RatesRecord& record) {
    std::vector<NamedCell> cells;
    for (const RateField& field : kRateFields) {
        const double rate = record.rates.*field.member;
        cells.push_back(rate == 0 && field.may_be_unknown ? NamedCell(field.name, nullptr) : NamedCell(field.name, rate));
    }
    cells.emplace_back("measured_at", record.time);
    return cells;
}

}  // namespace

std::string content_of(const RatesRecord& record) {
    std::string content;
    for (const auto& cells : {cells_of(record.environment), values_of(record)})
        for (const auto& cell : cells) content += text_of(cell) + '\n';
    return content;
}

void TuningDatabase::Impl::store(const RatesRecord& record) {
    std::vector<NamedCell> values = values_of(record);
    values.emplace_back("environment_id", ids.environment(record.environment));
    ids.insert("machine_rates", values);
}

std::vector<StoredRates> TuningDatabase::Impl::load_rates(std::vector<RowFault>* faults) {
    std::vector<StoredRates> all;
    std::int64_t seen = 0;
    SQLite::Statement rows(database,
                           fmt::format("SELECT r.id, {}, {} FROM machine_rates AS r CROSS JOIN environment AS e ON e.id = r.environment_id "
                                       "JOIN device AS d ON d.id = e.device_id ORDER BY r.id",
                                       kEnvironmentColumns, rate_columns()));
    for (std::int64_t last = std::numeric_limits<std::int64_t>::min(); rows.executeStep(); ++seen) {
        const std::int64_t id = rows.getColumn(0).getInt64();
        if (id <= last) fail_repeated("machine_rates");
        last = id;
        RowReader row(rows);
        RatesRecord record;
        row.integer("id", 0, kAnyNumber);
        read_rates(row, record);
        if (row.fault().empty())
            all.push_back({.id = id, .record = std::move(record)});
        else if (faults)
            faults->push_back({.table = "machine_rates", .id = id, .what = row.fault()});
    }
    if (faults) add_unseen("machine_rates", seen, 0, *faults);
    return all;
}

void TuningDatabase::record(const MeasuredRates& rates) {
    const RatesRecord record{.environment = impl_->known_environment(), .rates = rates, .time = now()};
    guarded(impl_->file, *impl_->limit, [&] {
        SQLite::Transaction transaction(impl_->database, SQLite::TransactionBehavior::IMMEDIATE);
        impl_->store(record);
        transaction.commit();
    });
}

std::vector<RatesRecord> TuningDatabase::rates_records(LeftOut* left_out) {
    return guarded(impl_->file, *impl_->limit, [&] {
        std::vector<RatesRecord> records;
        std::vector<RowFault> faults;
        for (StoredRates& stored : impl_->load_rates(&faults)) records.push_back(std::move(stored.record));
        impl_->tell(faults, left_out);
        return records;
    });
}

std::optional<TuningDatabase::KnownRates> TuningDatabase::known_rates(const DeviceInfo& device) {
    return guarded(impl_->file, *impl_->limit, [&] {
        std::vector<RowFault> faults;
        std::optional<KnownRates> known;
        for (const StoredRates& stored : impl_->load_rates(&faults)) {
            const DeviceInfo& measured = stored.record.environment.device;
            if (model_of(measured) != model_of(device)) continue;
            const bool as_it_is = measured.driver_version == device.driver_version && measured.power_limit == device.power_limit;
            if (!known || as_it_is || !known->of_same_driver) known = {.rates = stored.record.rates, .of_same_driver = as_it_is};
        }
        impl_->tell(faults, nullptr);
        return known;
    });
}

}  // namespace tmm
