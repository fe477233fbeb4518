// Between rows and values: reads columns with range checks, finds and makes the rows that others refer to.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/store/ranges.h"
#include "db/store/records.h"

namespace tmm {

// Reads one row's columns from left to right. A value of the wrong type or out of its range leaves a neutral one and a fault.
class RowReader {
public:
    explicit RowReader(SQLite::Statement& row) : row_(row) {}

    std::int64_t integer(const char* name, std::int64_t lowest, std::int64_t highest);
    // A column that is NULL gives if_null.
    std::int64_t integer_or(const char* name, std::int64_t if_null, std::int64_t lowest, std::int64_t highest);
    double real_or(const char* name, double if_null, const RealRange& range = kMicroseconds);
    std::string text(const char* name, std::size_t limit, std::size_t least = 0);
    // "user", "shipped" or "raced".
    std::string origin();
    void problem(GemmProblem& problem);
    void compute(GemmProblem& problem);
    void config(KernelConfig& config);
    // Returns nothing where the config's column is NULL.
    std::optional<KernelConfig> config_if_any();

    // A reason why values that were read do not belong together is a fault; an empty one is none.
    void check(const std::string& reason);

    // The first fault; empty where there is none.
    const std::string& fault() const { return fault_; }

private:
    void blame(const char* name, const std::string& what);
    // The next column's bytes, as long as the row is there; nothing, and a fault, where it is no text of at most `limit` bytes.
    std::string_view bytes(const char* name, std::size_t limit);

    SQLite::Statement& row_;
    int column_ = 0;
    std::string fault_;
};

// A column's name and value, for a condition or an insertion.
struct NamedCell {
    enum class Type { null, integer, real, text };

    NamedCell(const char* column, std::nullptr_t) : name(column) {}
    NamedCell(const char* column, std::int64_t value) : name(column), type(Type::integer), integer(value) {}
    NamedCell(const char* column, double value) : name(column), type(Type::real), real(value) {}
    NamedCell(const char* column, std::string value) : name(column), type(Type::text), text(std::move(value)) {}

    const char* name;
    Type type = Type::null;
    std::int64_t integer = 0;
    double real = 0;
    std::string text;
};
// Binds the cells' values to the parameters 1, 2, ….
void bind(SQLite::Statement& statement, const std::vector<NamedCell>& cells);

std::vector<NamedCell> cells_of(const GemmProblem& problem);
std::vector<NamedCell> cells_of(const KernelConfig& config);
std::vector<NamedCell> cells_of(const MeasurementPolicy& policy);
// The environment's cells together with those of its device.
std::vector<NamedCell> cells_of(const Environment& environment);

// Equal values give equal texts; NULL gives none.
std::string text_of(const NamedCell& cell);

// The ids of rows with given values. Its statements are kept for the next call.
class RowIds {
public:
    explicit RowIds(SQLite::Database& database) : database_(database) {}

    std::optional<std::int64_t> find(const std::string& table, const std::vector<NamedCell>& cells);
    std::int64_t find_or_insert(const std::string& table, const std::vector<NamedCell>& cells);
    // The cells of a table are always the same ones, in one order.
    std::int64_t insert(const std::string& table, const std::vector<NamedCell>& cells);

    std::optional<std::int64_t> find_device(const DeviceInfo& device);
    std::int64_t device(const DeviceInfo& device);
    std::int64_t environment(const Environment& environment);

private:
    SQLite::Database& database_;
    std::map<std::string, SQLite::Statement> find_;
    std::map<std::string, SQLite::Statement> insert_;
};

}  // namespace tmm
