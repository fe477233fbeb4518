// Turns columns into values, with range checks, and values into the ids of their rows.
#include "db/store/rows.h"

#include <fmt/core.h>

#include <limits>

#include "db/store/field_text.h"
#include "db/store/fields.h"
#include "generator/families/family.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

std::vector<NamedCell> cells_of(const DeviceInfo& device) {
    return {{"name", one_line(device.name, kDeviceNameLimit)},
            {"compute_capability", std::int64_t{device.compute_capability()}},
            {"sm_count", std::int64_t{device.sm_count}}};
}

// The environment's cells without its device.
std::vector<NamedCell> environment_cells(const Environment& environment) {
    return {{"memory_bytes", environment.device.memory_bytes},
            {"power_limit", std::int64_t{environment.device.power_limit}},
            {"driver_version", std::int64_t{environment.device.driver_version}},
            {"nvrtc_version", std::int64_t{environment.nvrtc_version}}};
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

void RowReader::check(const std::string& reason) {
    if (fault_.empty()) fault_ = reason;
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

double RowReader::real_or(const char* name, double if_null, const RealRange& range) {
    const auto column = row_.getColumn(column_++);
    if (column.isNull()) return if_null;
    if (!column.isFloat() && !column.isInteger()) {
        blame(name, "is no number");
        return if_null;
    }
    const double value = column.getDouble();
    if (range.contains(value)) return value;
    blame(name, fmt::format("is {}, outside {} … {}", value, range.lowest, range.highest));
    return if_null;
}

std::string_view RowReader::bytes(const char* name, std::size_t limit) {
    const auto column = row_.getColumn(column_++);
    if (!column.isText()) {
        blame(name, "is no text");
        return {};
    }
    // The length is checked first: a text may be as long as the file.
    const auto size = static_cast<std::size_t>(column.getBytes());
    if (size > limit) {
        blame(name, "is longer than it may be");
        return {};
    }
    return {column.getText(), size};
}

std::string RowReader::text(const char* name, std::size_t limit, std::size_t least) {
    const std::string_view value = bytes(name, limit);
    std::string line = one_line(value, limit);
    if (line != value) blame(name, "holds control characters, or bytes that are no text");
    if (line.size() < least) blame(name, "is empty");
    return line;
}

std::string RowReader::origin() {
    std::string value = text("origin", 10);
    if (value != "user" && value != "shipped" && value != "raced")
        blame("origin", fmt::format("is '{}', neither 'user' nor 'shipped' nor 'raced'", value));
    return value;
}

void RowReader::problem(GemmProblem& problem) {
    check(read_field_text(bytes("problem", kFieldsLimit), problem));
    problem.compute = default_compute(problem.type_a);
    check(why_inconsistent(problem));
}

void RowReader::compute(GemmProblem& problem) {
    const ProblemField& field = compute_field();
    field.set(problem, integer(field.name, field.range.least, field.range.most));
}

void RowReader::config(KernelConfig& config) {
    check(read_field_text(bytes("config", kFieldsLimit), config));
    if (const auto misused = find_misused_field(config)) check(misused->why);
}

std::optional<KernelConfig> RowReader::config_if_any() {
    if (row_.getColumn(column_).isNull()) {
        ++column_;
        return std::nullopt;
    }
    KernelConfig read;
    config(read);
    return read;
}

std::vector<NamedCell> cells_of(const GemmProblem& problem) {
    return {{"fields", field_text(problem)}};
}

std::vector<NamedCell> cells_of(const KernelConfig& config) {
    return {{"fields", field_text(config)}};
}

std::vector<NamedCell> cells_of(const MeasurementPolicy& policy) {
    return {{"cold_l2", std::int64_t{policy.cold_l2}},
            {"graph", std::int64_t{policy.graph}},
            {"other_kernel", std::int64_t{policy.other_kernel}},
            {"data", policy.data}};
}

std::vector<NamedCell> cells_of(const Environment& environment) {
    std::vector<NamedCell> cells = cells_of(environment.device);
    const auto rest = environment_cells(environment);
    cells.insert(cells.end(), rest.begin(), rest.end());
    return cells;
}

std::string text_of(const NamedCell& cell) {
    switch (cell.type) {
        case NamedCell::Type::null: break;
        case NamedCell::Type::integer: return fmt::format("{}", cell.integer);
        case NamedCell::Type::real: return fmt::format("{}", cell.real);
        case NamedCell::Type::text: return cell.text;
    }
    return {};
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
    return insert(table, cells);
}

std::int64_t RowIds::insert(const std::string& table, const std::vector<NamedCell>& cells) {
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
    std::vector<NamedCell> cells = environment_cells(environment);
    cells.emplace_back("device_id", device(environment.device));
    return find_or_insert("environment", cells);
}

}  // namespace tmm
