// Whole records in and out of the database: storing, loading, merging, and checking every row.
#include <SQLiteCpp/Transaction.h>
#include <fmt/core.h>

#include <cmath>

#include "db/fields.h"
#include "db/tuning_database_impl.h"
#include "generator/error.h"
#include "generator/text.h"

namespace tmm {
namespace {

// NULL stands for "not known", where C++ has 0 or -1.
NamedCell positive(const char* name, double value) {
    return value > 0 ? NamedCell(name, value) : NamedCell(name, nullptr);
}
NamedCell not_negative(const char* name, double value) {
    return value >= 0 ? NamedCell(name, value) : NamedCell(name, nullptr);
}
NamedCell not_negative(const char* name, int value) {
    return value >= 0 ? NamedCell(name, std::int64_t{value}) : NamedCell(name, nullptr);
}

bool insert_if_new(SQLite::Database& database, const char* table, const std::vector<NamedCell>& values) {
    std::string names, marks, condition;
    for (const auto& value : values) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", value.name);
        marks += marks.empty() ? "?" : ", ?";
        condition += fmt::format("{}{} IS ?", condition.empty() ? "" : " AND ", value.name);
    }
    SQLite::Statement find(database, fmt::format("SELECT 1 FROM {} WHERE {}", table, condition));
    bind(find, values);
    if (find.executeStep()) return false;
    SQLite::Statement insert(database, fmt::format("INSERT INTO {} ({}) VALUES ({})", table, names, marks));
    bind(insert, values);
    insert.exec();
    return true;
}

constexpr const char* kHeadColumns =
    "d.name, d.compute_capability, d.sm_count, e.memory_bytes, e.power_limit, e.driver_version, e.nvrtc_version, "
    "l.cold_l2, l.graph, l.data";

void read_head(RowReader& row, TuningRecord& record) {
    DeviceInfo& device = record.environment.device;
    device.name = row.text("device", kDeviceNameLimit);
    const auto capability = static_cast<int>(row.integer("compute_capability", 0, 10'000));
    device.compute_capability_major = capability / 10;
    device.compute_capability_minor = capability % 10;
    device.sm_count = static_cast<int>(row.integer("sm_count", 0, 1'000'000));
    device.memory_bytes = row.integer("memory_bytes", 0, std::numeric_limits<std::int64_t>::max());
    device.power_limit = static_cast<int>(row.integer("power_limit", 0, 1'000'000));
    device.driver_version = static_cast<int>(row.integer("driver_version", 0, 10'000'000));
    device.emulated = device.name == "host";
    record.environment.nvrtc_version = static_cast<int>(row.integer("nvrtc_version", 0, 10'000'000));
    record.policy.cold_l2 = row.integer("cold_l2", 0, 1) != 0;
    record.policy.graph = row.integer("graph", 0, 1) != 0;
    record.policy.data = row.text("data", 100);
}

std::string select(const char* table, const std::string& columns, const char* time, const char* joins) {
    return fmt::format(
        "SELECT x.id, {}, {}, {}, x.{}, {} FROM {} AS x JOIN environment AS e ON e.id = x.environment_id "
        "JOIN device AS d ON d.id = e.device_id JOIN problem AS p ON p.id = x.problem_id JOIN config AS g ON g.id = x.config_id "
        "JOIN policy AS l ON l.id = x.policy_id {} WHERE ?1 IS NULL OR x.problem_id = ?1 ORDER BY x.{}, x.id",
        kHeadColumns, problem_columns("p"), config_columns("g"), time, columns, table, joins, time);
}

}  // namespace

std::string measurement_columns(const std::string& alias) {
    std::string columns;
    for (const char* name : {"kernel_name", "kernel_hash", "outcome", "detail", "median_us", "low_us", "high_us", "samples", "error_ratio",
                             "registers", "spill_bytes", "shared_bytes", "workspace_bytes", "sm_clock_mhz", "throttled"})
        columns += fmt::format("{}{}.{}", columns.empty() ? "" : ", ", alias, name);
    return columns;
}

void read_measurement(RowReader& row, Measurement& x) {
    constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
    static const auto last_outcome = static_cast<std::int64_t>(names_of_all<Outcome>().size()) - 1;
    x.kernel_name = row.text("kernel_name", kNameLimit);
    x.kernel_hash = row.text("kernel_hash", kHashLimit);
    x.outcome = static_cast<Outcome>(row.integer("outcome", 0, last_outcome));
    x.detail = row.text("detail", kTextLimit);
    x.median_us = row.real_or("median_us", 0);
    x.low_us = row.real_or("low_us", 0);
    x.high_us = row.real_or("high_us", 0);
    x.samples = static_cast<int>(row.integer("samples", 0, kCountLimit));
    x.error_ratio = row.real_or("error_ratio", -1);
    x.registers = static_cast<int>(row.integer_or("registers", -1, 0, 1'000'000));
    x.spill_bytes = static_cast<int>(row.integer_or("spill_bytes", -1, 0, kCountLimit));
    x.shared_bytes = row.integer("shared_bytes", 0, kMax);
    x.workspace_bytes = row.integer("workspace_bytes", 0, kMax);
    x.sm_clock_mhz = static_cast<int>(row.integer("sm_clock_mhz", 0, 1'000'000));
    x.throttled = row.integer("throttled", 0, 1) != 0;
}

std::string run_off_columns(const std::string& selection, const std::string& runner_up) {
    return fmt::format("{0}.default_us, {1}, {0}.runner_up_us, {0}.predicted", selection, config_columns(runner_up));
}

bool TuningDatabase::Impl::store(const TuningRecord& record) {
    std::vector<NamedCell> values = {{"environment_id", ids.environment(record.environment)},
                                     {"problem_id", ids.find_or_insert("problem", cells_of(record.problem))},
                                     {"config_id", ids.find_or_insert("config", cells_of(record.config))},
                                     {"policy_id", ids.find_or_insert("policy", cells_of(record.policy))}};
    const Measurement& x = record.measurement;
    if (record.kind == TuningRecord::Kind::selection) {
        values.insert(values.end(),
                      {{"compute", compute_field().get(record.problem)},
                       positive("median_us", x.median_us),
                       {"candidates", std::int64_t{record.candidates}},
                       {"reason", one_line(record.reason, kTextLimit)},
                       {"search_hash", one_line(record.search_hash, kHashLimit)},
                       {"origin", record.origin},
                       {"decided_at", record.time},
                       positive("default_us", record.default_us),
                       record.runner_up ? NamedCell("runner_up_config_id", ids.find_or_insert("config", cells_of(*record.runner_up)))
                                        : NamedCell("runner_up_config_id", nullptr),
                       positive("runner_up_us", record.runner_up_us),
                       {"predicted", std::int64_t{record.predicted}}});
        return insert_if_new(database, "selection", values);
    }
    values.insert(values.end(), {{"kernel_name", one_line(x.kernel_name, kNameLimit)},
                                 {"kernel_hash", one_line(x.kernel_hash, kHashLimit)},
                                 {"outcome", static_cast<std::int64_t>(x.outcome)},
                                 {"detail", one_line(x.detail, kTextLimit)},
                                 positive("median_us", x.median_us),
                                 positive("low_us", x.low_us),
                                 positive("high_us", x.high_us),
                                 {"samples", std::int64_t{x.samples}},
                                 not_negative("error_ratio", x.error_ratio),
                                 not_negative("registers", x.registers),
                                 not_negative("spill_bytes", x.spill_bytes),
                                 {"shared_bytes", x.shared_bytes},
                                 {"workspace_bytes", x.workspace_bytes},
                                 {"sm_clock_mhz", std::int64_t{x.sm_clock_mhz}},
                                 {"throttled", std::int64_t{x.throttled}},
                                 {"measured_at", record.time}});
    return insert_if_new(database, "measurement", values);
}

std::vector<TuningRecord> TuningDatabase::Impl::load(const std::optional<GemmProblem>& only, std::vector<std::string>* faults) {
    std::vector<TuningRecord> records;
    std::optional<std::int64_t> problem_id;
    if (only) {
        problem_id = ids.find("problem", cells_of(*only));
        if (!problem_id) return records;
    }
    const auto read = [&](const char* table, const char* time, const std::string& columns, const char* joins, auto&& read_rest) {
        SQLite::Statement rows(database, select(table, columns, time, joins));
        if (problem_id) rows.bind(1, *problem_id);
        while (rows.executeStep()) {
            RowReader row(rows);
            TuningRecord record;
            const auto id = row.integer("id", 0, std::numeric_limits<std::int64_t>::max());
            read_head(row, record);
            row.problem(record.problem);
            row.config(record.config);
            record.time = row.integer(time, 0, kLatestTime);
            read_rest(row, record);
            if (row.fault().empty())
                records.push_back(std::move(record));
            else if (faults)
                faults->push_back(fmt::format("{} {}: {}", table, id, row.fault()));
        }
    };
    read("measurement", "measured_at", measurement_columns("x"), "", [](RowReader& row, TuningRecord& record) {
        record.kind = TuningRecord::Kind::measurement;
        read_measurement(row, record.measurement);
    });
    read("selection", "decided_at", "x.compute, x.median_us, x.candidates, x.reason, x.search_hash, x.origin, " + run_off_columns("x", "r"),
         "LEFT JOIN config AS r ON r.id = x.runner_up_config_id", [](RowReader& row, TuningRecord& record) {
             record.kind = TuningRecord::Kind::selection;
             row.compute(record.problem);
             record.measurement.median_us = row.real_or("median_us", 0);
             record.candidates = static_cast<int>(row.integer("candidates", 0, kCountLimit));
             record.reason = row.text("reason", kTextLimit);
             record.search_hash = row.text("search_hash", kHashLimit);
             record.origin = row.text("origin", 10);
             read_run_off(row, record);
         });
    return records;
}

std::vector<TuningRecord> TuningDatabase::records(const std::optional<GemmProblem>& only) {
    return guarded(impl_->file, [&] { return impl_->load(only, nullptr); });
}

TuningDatabase::Inserted TuningDatabase::insert(const std::vector<TuningRecord>& records) {
    return guarded(impl_->file, [&] {
        SQLite::Transaction transaction(impl_->database, SQLite::TransactionBehavior::IMMEDIATE);
        Inserted inserted;
        for (const auto& record : records)
            if (impl_->store(record)) ++(record.kind == TuningRecord::Kind::selection ? inserted.selections : inserted.measurements);
        transaction.commit();
        return inserted;
    });
}

TuningDatabase::Inserted TuningDatabase::merge(const std::filesystem::path& other) {
    const auto load = [&](Mode mode) { return TuningDatabase(other, mode).records(); };
    std::vector<TuningRecord> records;
    try {
        records = load(Mode::read_only);
    } catch (const Error&) {
        // A killed writer's journal and an older version need a connection that may write.
        records = load(Mode::read_write);
    }
    return insert(records);
}

std::vector<std::string> TuningDatabase::verify() {
    std::vector<std::string> faults;
    const auto check = [&](auto&& action) {
        try {
            guarded(impl_->file, action);
        } catch (const Error& error) {
            faults.emplace_back(error.what());
        }
    };
    check([&] {
        SQLite::Statement rows(impl_->database, "PRAGMA integrity_check");
        while (rows.executeStep())
            if (const auto line = rows.getColumn(0).getString(); line != "ok") faults.push_back(one_line(line, kTextLimit));
    });
    check([&] {
        SQLite::Statement rows(impl_->database, "SELECT \"table\", rowid, parent FROM pragma_foreign_key_check");
        while (rows.executeStep())
            faults.push_back(one_line(fmt::format("{} {}: refers to a row of {} that is missing", rows.getColumn(0).getString(),
                                                  rows.getColumn(1).getInt64(), rows.getColumn(2).getString()),
                                      kTextLimit));
    });
    check([&] { impl_->load({}, &faults); });
    return faults;
}

}  // namespace tmm
