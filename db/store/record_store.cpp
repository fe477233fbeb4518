// Moves whole records into and out of the database: stores, loads, and checks every row.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <limits>

#include "base/error.h"
#include "base/log.h"
#include "db/store/database_file.h"
#include "db/store/fields.h"
#include "db/store/schema_check.h"
#include "db/store/tuning_database_impl.h"
#include "generator/machine/device_info.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

// NULL stands for "not known", where C++ has 0 or -1.
NamedCell real(const char* name, double value, const RealRange& range = kMicroseconds) {
    return range.contains(value) ? NamedCell(name, value) : NamedCell(name, nullptr);
}
NamedCell not_negative(const char* name, int value) {
    return value >= 0 ? NamedCell(name, std::int64_t{value}) : NamedCell(name, nullptr);
}

// The cells of a measurement or selection, without the rows that it refers to.
std::vector<NamedCell> values_of(const TuningRecord& record) {
    const Measurement& x = record.measurement;
    if (record.kind == TuningRecord::Kind::selection)
        return {{"compute", std::int64_t{compute_field().get(record.problem)}},
                real("median_us", x.median_us),
                {"candidates", std::int64_t{record.candidates}},
                {"reason", one_line(record.reason, kTextLimit)},
                {"search_hash", one_line(record.search_hash, kHashLimit)},
                {"origin", record.origin},
                {"decided_at", record.time},
                real("default_us", record.default_us),
                real("runner_up_us", record.runner_up_us),
                {"predicted", std::int64_t{record.predicted}}};
    return {{"kernel_name", one_line(x.kernel_name, kNameLimit)},
            {"kernel_hash", one_line(x.kernel_hash, kHashLimit)},
            {"outcome", static_cast<std::int64_t>(x.outcome)},
            {"detail", one_line(x.detail, kTextLimit)},
            real("median_us", x.median_us),
            real("low_us", x.low_us),
            real("high_us", x.high_us),
            {"samples", std::int64_t{x.samples}},
            real("error_ratio", x.error_ratio, kErrorRatio),
            not_negative("registers", x.registers),
            not_negative("spill_bytes", x.spill_bytes),
            {"shared_bytes", x.shared_bytes},
            {"workspace_bytes", x.workspace_bytes},
            {"sm_clock_mhz", std::int64_t{x.sm_clock_mhz}},
            {"throttled", std::int64_t{x.throttled}},
            {"measured_at", record.time}};
}

void read_head(RowReader& row, TuningRecord& record) {
    read_environment(row, record.environment);
    record.policy.cold_l2 = row.integer("cold_l2", 0, 1) != 0;
    record.policy.graph = row.integer("graph", 0, 1) != 0;
    record.policy.other_kernel = row.integer("other_kernel", 0, 1) != 0;
    record.policy.data = row.text("data", kDataNameLimit, 1);
}

// CROSS JOIN keeps to the rows' order as they come, so that none waits for all to be sorted.
std::string select(const char* table, const std::string& columns, const char* time, const char* joins) {
    return fmt::format(
        "SELECT x.id, {}, l.cold_l2, l.graph, l.other_kernel, l.data, p.fields, g.fields, x.{}, {} FROM {} AS x CROSS JOIN environment AS "
        "e ON e.id = "
        "x.environment_id "
        "JOIN device AS d ON d.id = e.device_id JOIN problem AS p ON p.id = x.problem_id JOIN config AS g ON g.id = x.config_id "
        "JOIN policy AS l ON l.id = x.policy_id {} WHERE ?1 IS NULL OR x.problem_id = ?1 ORDER BY x.id",
        kEnvironmentColumns, time, columns, table, joins);
}

// Checks all of the file, or "(table)". Returns false where the pages of a table refer to each other wrongly.
bool check_pages(SQLite::Database& database, const std::string& table, std::vector<std::string>& faults) {
    // SQLite counts an index's entries without looking at the clock: that has an end only where no page is referred to twice. quick_check
    // looks at the pages first, and with one fault allowed it goes no further.
    const std::string first = database.execAndGet(table.empty() ? "PRAGMA quick_check(1)" : "PRAGMA quick_check" + table).getString();
    if (first.starts_with("***")) {
        faults.push_back(one_line(first, kTextLimit));
        return false;
    }
    SQLite::Statement lines(database, "PRAGMA integrity_check" + table);
    while (lines.executeStep())
        if (const auto line = lines.getColumn(0).getString(); line != "ok") faults.push_back(one_line(line, kTextLimit));
    return true;
}

void check_references(SQLite::Database& database, const std::string& table, std::vector<std::string>& faults) {
    SQLite::Statement rows(database, fmt::format("SELECT rowid, parent FROM pragma_foreign_key_check('{}')", table));
    while (rows.executeStep())
        faults.push_back(one_line(
            fmt::format("{} {}: refers to a row of {} that is missing", table, rows.getColumn(0).getInt64(), rows.getColumn(1).getString()),
            kTextLimit));
}

// Nothing is read from a stranger's tables: they may be virtual ones, and run the code of whoever made them.
void check_tables(SQLite::Database& database, std::vector<std::string>& faults) {
    const bool all_ours = faults.empty();
    bool are_pages_sound = !all_ours || check_pages(database, "", faults);
    for (const SchemaObject& object : todays_objects()) {
        if (object.type != "table") continue;
        if (!all_ours) are_pages_sound = check_pages(database, fmt::format("({})", object.name), faults);
        if (are_pages_sound) check_references(database, object.name, faults);
    }
}

}  // namespace

void read_environment(RowReader& row, Environment& environment) {
    DeviceInfo& device = environment.device;
    device.name = row.text("device", kDeviceNameLimit, 1);
    const auto capability = static_cast<int>(row.integer("compute_capability", 0, kCapabilityLimit));
    device.compute_capability_major = capability / 10;
    device.compute_capability_minor = capability % 10;
    device.sm_count = static_cast<int>(row.integer("sm_count", 0, kSmLimit));
    device.memory_bytes = row.integer("memory_bytes", 0, kMemoryLimit);
    device.power_limit = static_cast<int>(row.integer("power_limit", 0, kWattLimit));
    device.driver_version = static_cast<int>(row.integer("driver_version", 0, kVersionLimit));
    device.emulated = device.name == kEmulatedName;
    environment.nvrtc_version = static_cast<int>(row.integer("nvrtc_version", 0, kVersionLimit));
}

std::string measurement_columns(const std::string& alias) {
    std::string columns;
    for (const char* name : {"kernel_name", "kernel_hash", "outcome", "detail", "median_us", "low_us", "high_us", "samples", "error_ratio",
                             "registers", "spill_bytes", "shared_bytes", "workspace_bytes", "sm_clock_mhz", "throttled"})
        columns += fmt::format("{}{}.{}", columns.empty() ? "" : ", ", alias, name);
    return columns;
}

void read_measurement(RowReader& row, Measurement& x) {
    static const auto last_outcome = static_cast<std::int64_t>(names_of_all<Outcome>().size()) - 1;
    x.kernel_name = row.text("kernel_name", kNameLimit);
    x.kernel_hash = row.text("kernel_hash", kHashLimit);
    x.outcome = static_cast<Outcome>(row.integer("outcome", 0, last_outcome));
    x.detail = row.text("detail", kTextLimit);
    x.median_us = row.real_or("median_us", 0);
    x.low_us = row.real_or("low_us", 0);
    x.high_us = row.real_or("high_us", 0);
    x.samples = static_cast<int>(row.integer("samples", 0, kCountLimit));
    x.error_ratio = row.real_or("error_ratio", -1, kErrorRatio);
    x.registers = static_cast<int>(row.integer_or("registers", -1, 0, kRegisterLimit));
    x.spill_bytes = static_cast<int>(row.integer_or("spill_bytes", -1, 0, kCountLimit));
    x.shared_bytes = row.integer("shared_bytes", 0, kSharedLimit);
    x.workspace_bytes = row.integer("workspace_bytes", 0, kMemoryLimit);
    x.sm_clock_mhz = static_cast<int>(row.integer("sm_clock_mhz", 0, kClockLimit));
    x.throttled = row.integer("throttled", 0, 1) != 0;
    row.check(why_inconsistent(x));
}

std::string run_off_columns(const std::string& selection, const std::string& runner_up) {
    return fmt::format("{0}.default_us, {1}.fields, {0}.runner_up_us, {0}.predicted", selection, runner_up);
}

const char* table_of(TuningRecord::Kind kind) {
    return kind == TuningRecord::Kind::selection ? "selection" : "measurement";
}

std::string content_of(const TuningRecord& record) {
    std::string content;
    for (const auto& cells :
         {cells_of(record.environment), cells_of(record.problem), cells_of(record.config), cells_of(record.policy), values_of(record)})
        for (const auto& cell : cells) content += text_of(cell) + '\n';
    if (record.runner_up) content += to_text(*record.runner_up);
    return content;
}

void TuningDatabase::Impl::store(const TuningRecord& record) {
    std::vector<NamedCell> values = values_of(record);
    values.emplace_back("environment_id", ids.environment(record.environment));
    values.emplace_back("problem_id", ids.find_or_insert("problem", cells_of(record.problem)));
    values.emplace_back("config_id", ids.find_or_insert("config", cells_of(record.config)));
    values.emplace_back("policy_id", ids.find_or_insert("policy", cells_of(record.policy)));
    if (record.kind == TuningRecord::Kind::selection)
        values.push_back(record.runner_up ? NamedCell("runner_up_config_id", ids.find_or_insert("config", cells_of(*record.runner_up)))
                                          : NamedCell("runner_up_config_id", nullptr));
    ids.insert(table_of(record.kind), values);
}

void TuningDatabase::Impl::store_new(TuningRecord record) {
    const bool is_decision = record.kind == TuningRecord::Kind::selection;
    SQLite::Statement newest(
        database, fmt::format("SELECT max(time) FROM (SELECT * FROM (SELECT {0} AS time FROM {1} ORDER BY id DESC LIMIT 1) "
                              "UNION ALL SELECT {0} + 1 FROM {1} WHERE problem_id = ?1 AND policy_id = ?2 {2}) WHERE time <= ?4",
                              is_decision ? "decided_at" : "measured_at", table_of(record.kind), is_decision ? "" : "AND config_id = ?3"));
    newest.bind(1, ids.find_or_insert("problem", cells_of(record.problem)));
    newest.bind(2, ids.find_or_insert("policy", cells_of(record.policy)));
    if (!is_decision) newest.bind(3, ids.find_or_insert("config", cells_of(record.config)));
    newest.bind(4, latest_credible_time());
    record.time = now();
    if (newest.executeStep() && !newest.isColumnNull(0)) record.time = std::max(record.time, newest.getColumn(0).getInt64());
    store(record);
}

void TuningDatabase::Impl::fail_repeated(const char* table) const {
    fail_database(file, fmt::format("the database is damaged (rows of '{}' come again)", table), kRestore);
}

void TuningDatabase::Impl::refuse_repeated(const char* table) {
    SQLite::Statement rows(database, fmt::format("SELECT id FROM {} ORDER BY id", table));
    for (std::optional<std::int64_t> last; rows.executeStep(); last = rows.getColumn(0).getInt64())
        if (last && rows.getColumn(0).getInt64() <= *last) fail_repeated(table);
}

void TuningDatabase::Impl::add_unseen(const char* table, std::int64_t seen, std::int64_t only_problem, std::vector<RowFault>& faults) {
    // SQLite counts the rows of count(*) without a look at the clock, for ever where a table has no end.
    SQLite::Statement rows(database, only_problem ? fmt::format("SELECT count(id) FROM {} WHERE problem_id = {}", table, only_problem)
                                                  : fmt::format("SELECT count(id) FROM {}", table));
    rows.executeStep();
    if (const std::int64_t unseen = rows.getColumn(0).getInt64() - seen; unseen > 0)
        faults.push_back({.table = table, .count = unseen, .what = "it refers to a row that is missing"});
}

void TuningDatabase::Impl::tell(const std::vector<RowFault>& faults, LeftOut* left_out) const {
    if (faults.empty()) return;
    LeftOut own;
    LeftOut& told = left_out ? *left_out : own;
    for (const RowFault& fault : faults) {
        const std::string_view table = fault.table;
        int& number = table == "measurement" ? told.measurements : table == "selection" ? told.decisions : told.profiles;
        number += static_cast<int>(fault.count);
    }
    if (told.reason.empty()) told.reason = faults.front().what;
    if (!left_out) log_line(fmt::format("{}: {}; 'tmm-db verify' names all", file.string(), to_text(own)));
}

std::vector<StoredRecord> TuningDatabase::Impl::load(const std::optional<GemmProblem>& only, std::vector<RowFault>* faults) {
    std::vector<StoredRecord> records;
    std::optional<std::int64_t> problem_id;
    if (only) {
        problem_id = ids.find("problem", cells_of(*only));
        if (!problem_id) return records;
    }
    const auto read = [&](const char* table, const char* time, const std::string& columns, const char* joins, auto&& read_rest) {
        SQLite::Statement rows(database, select(table, columns, time, joins));
        if (problem_id) rows.bind(1, *problem_id);
        std::int64_t last_id = std::numeric_limits<std::int64_t>::min();
        std::int64_t seen = 0;
        for (; rows.executeStep(); ++seen) {
            RowReader row(rows);
            TuningRecord record;
            const std::int64_t id = rows.getColumn(0).getInt64();
            if (id <= last_id) fail_repeated(table);
            last_id = id;
            row.integer("id", 0, kAnyNumber);
            read_head(row, record);
            row.problem(record.problem);
            row.config(record.config);
            record.time = row.integer(time, kEarliestTime, kLatestTime);
            read_rest(row, record);
            if (row.fault().empty())
                records.push_back({.id = id, .record = std::move(record)});
            else if (faults)
                faults->push_back({.table = table, .id = id, .what = row.fault()});
        }
        if (faults) add_unseen(table, seen, problem_id.value_or(0), *faults);
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
             record.origin = row.origin();
             read_run_off(row, record);
         });
    return records;
}

std::string to_text(const LeftOut& left_out) {
    std::vector<std::string> parts;
    for (const auto& [count, name] :
         {std::pair{left_out.measurements, "measurement"}, {left_out.decisions, "decision"}, {left_out.profiles, "machine profile"}})
        if (count > 0) parts.push_back(fmt::format("{} {}{}", count, name, count == 1 ? "" : "s"));
    return fmt::format("{} left out ({})", fmt::join(parts, " and "), left_out.reason);
}

std::vector<TuningRecord> TuningDatabase::records(const std::optional<GemmProblem>& only, LeftOut* left_out) {
    return guarded(impl_->file, *impl_->limit, [&] {
        std::vector<TuningRecord> records;
        std::vector<RowFault> faults;
        for (auto& stored : impl_->load(only, &faults)) records.push_back(std::move(stored.record));
        impl_->tell(faults, left_out);
        return records;
    });
}

std::vector<std::string> TuningDatabase::verify() {
    std::vector<std::string> faults;
    const auto check = [&](auto&& action) {
        // A file that has no end is not read any further.
        if (impl_->limit->was_exceeded()) return;
        try {
            guarded(impl_->file, *impl_->limit, action);
        } catch (const Error& error) {
            faults.emplace_back(error.what());
        }
    };
    check([&] { faults = schema_differences(impl_->database); });
    check([&] { check_tables(impl_->database, faults); });
    check([&] {
        for (auto& fault : wrong_names(impl_->database)) faults.push_back(std::move(fault));
    });
    std::vector<RowFault> rows;
    check([&] { impl_->load({}, &rows); });
    check([&] { impl_->load_rates(&rows); });
    // Rows that refer to missing ones have been named.
    for (const RowFault& row : rows)
        if (row.id != 0) faults.push_back(fmt::format("{} {}: {}", row.table, row.id, row.what));
    return faults;
}

}  // namespace tmm
