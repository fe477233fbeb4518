// Columns to values, with range checks, and values to the ids of their rows.
#include "db/rows.h"

#include <fmt/core.h>

#include <limits>

#include "db/fields.h"
#include "generator/text.h"

namespace tmm {
namespace {

std::vector<NamedCell> cells_of(const DeviceInfo& device) {
    return {{"name", one_line(device.name, 200)},
            {"compute_capability", std::int64_t{device.compute_capability()}},
            {"sm_count", std::int64_t{device.sm_count}}};
}

}  // namespace

void bind(SQLite::Statement& statement, const std::vector<NamedCell>& cells) {
    int index = 1;
    for (const auto& cell : cells) {
        switch (cell.type) {
            case NamedCell::Type::null: statement.bind(index); break;
            case NamedCell::Type::integer: statement.bind(index, cell.integer); break;
            case NamedCell::Type::real: statement.bind(index, cell.real); break;
            case NamedCell::Type::text: statement.bind(index, cell.text); break;
        }
        ++index;
    }
}

void RowReader::blame(const char* name, const std::string& what) {
    if (fault_.empty()) fault_ = fmt::format("{} {}", name, what);
}

std::int64_t RowReader::integer(const char* name, std::int64_t lowest, std::int64_t highest) {
    const auto column = row_.getColumn(column_++);
    if (!column.isInteger()) {
        blame(name, "is no integer");
        return lowest;
    }
    const std::int64_t value = column.getInt64();
    if (value >= lowest && value <= highest) return value;
    blame(name, fmt::format("is {}, outside {} … {}", value, lowest, highest));
    return lowest;
}

std::int64_t RowReader::integer_or(const char* name, std::int64_t if_null, std::int64_t lowest, std::int64_t highest) {
    if (!row_.getColumn(column_).isNull()) return integer(name, lowest, highest);
    ++column_;
    return if_null;
}

double RowReader::real_or(const char* name, double if_null) {
    const auto column = row_.getColumn(column_++);
    if (column.isNull()) return if_null;
    if (!column.isFloat() && !column.isInteger()) {
        blame(name, "is no number");
        return if_null;
    }
    const double value = column.getDouble();
    if (value >= 0) return value;
    blame(name, fmt::format("is {}, which is negative", value));
    return if_null;
}

std::string RowReader::text(const char* name, std::size_t limit) {
    const auto column = row_.getColumn(column_++);
    if (!column.isText()) {
        blame(name, "is no text");
        return {};
    }
    const std::string value = column.getString();
    std::string line = one_line(value, limit);
    if (line != value) blame(name, "is longer than it may be, or holds control characters");
    return line;
}

void RowReader::problem(GemmProblem& problem) {
    for (const auto& field : problem_fields()) field.set(problem, integer(field.name, field.lowest, field.highest));
    problem.compute = default_compute(problem.type_a);
    const std::string reason = why_inconsistent(problem);
    if (fault_.empty()) fault_ = reason;
}

void RowReader::compute(GemmProblem& problem) {
    const auto& field = compute_field();
    field.set(problem, integer(field.name, field.lowest, field.highest));
}

void RowReader::config(KernelConfig& config) {
    for (const Parameter& parameter : kParameters)
        config.*parameter.member = static_cast<int>(integer(parameter.name, 0, highest_value(parameter)));
}

std::optional<KernelConfig> RowReader::config_if_any() {
    if (row_.getColumn(column_).isNull()) {
        column_ += kParameterCount;
        return std::nullopt;
    }
    KernelConfig read;
    config(read);
    return read;
}

std::string problem_columns(const std::string& alias) {
    std::string columns;
    for (const auto& field : problem_fields()) columns += fmt::format("{}{}.{}", columns.empty() ? "" : ", ", alias, field.name);
    return columns;
}

std::string config_columns(const std::string& alias) {
    std::string columns;
    for (const auto& parameter : kParameters) columns += fmt::format("{}{}.{}", columns.empty() ? "" : ", ", alias, parameter.name);
    return columns;
}

std::vector<NamedCell> cells_of(const GemmProblem& problem) {
    std::vector<NamedCell> cells;
    for (const auto& field : problem_fields()) cells.emplace_back(field.name, field.get(problem));
    return cells;
}

std::vector<NamedCell> cells_of(const KernelConfig& config) {
    std::vector<NamedCell> cells;
    for (const auto& parameter : kParameters) cells.emplace_back(parameter.name, std::int64_t{config.*parameter.member});
    return cells;
}

std::vector<NamedCell> cells_of(const MeasurementPolicy& policy) {
    return {{"cold_l2", std::int64_t{policy.cold_l2}}, {"graph", std::int64_t{policy.graph}}, {"data", policy.data}};
}

std::optional<std::int64_t> RowIds::find(const std::string& table, const std::vector<NamedCell>& cells) {
    auto found = find_.find(table);
    if (found == find_.end()) {
        std::string condition;
        for (const auto& cell : cells) condition += fmt::format("{}{} = ?", condition.empty() ? "" : " AND ", cell.name);
        found = find_.emplace(table, SQLite::Statement(database_, fmt::format("SELECT id FROM {} WHERE {}", table, condition))).first;
    }
    SQLite::Statement& statement = found->second;
    statement.reset();
    bind(statement, cells);
    std::optional<std::int64_t> id;
    if (statement.executeStep()) id = statement.getColumn(0).getInt64();
    statement.reset();
    return id;
}

std::int64_t RowIds::find_or_insert(const std::string& table, const std::vector<NamedCell>& cells) {
    if (const auto id = find(table, cells)) return *id;
    auto found = insert_.find(table);
    if (found == insert_.end()) {
        std::string names, marks;
        for (const auto& cell : cells) {
            names += fmt::format("{}{}", names.empty() ? "" : ", ", cell.name);
            marks += marks.empty() ? "?" : ", ?";
        }
        found =
            insert_.emplace(table, SQLite::Statement(database_, fmt::format("INSERT INTO {} ({}) VALUES ({})", table, names, marks))).first;
    }
    SQLite::Statement& statement = found->second;
    statement.tryReset();
    bind(statement, cells);
    statement.exec();
    statement.reset();
    return database_.getLastInsertRowid();
}

std::optional<std::int64_t> RowIds::find_device(const DeviceInfo& device) {
    return find("device", cells_of(device));
}

std::int64_t RowIds::device(const DeviceInfo& device) {
    return find_or_insert("device", cells_of(device));
}

std::int64_t RowIds::environment(const Environment& environment) {
    return find_or_insert("environment", {{"device_id", device(environment.device)},
                                          {"memory_bytes", environment.device.memory_bytes},
                                          {"power_limit", std::int64_t{environment.device.power_limit}},
                                          {"driver_version", std::int64_t{environment.device.driver_version}},
                                          {"nvrtc_version", std::int64_t{environment.nvrtc_version}}});
}

}  // namespace tmm
