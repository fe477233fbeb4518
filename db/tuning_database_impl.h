// What TuningDatabase's source files share.
#pragma once

#include <SQLiteCpp/Database.h>

#include <chrono>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>

#include "db/connection.h"
#include "db/records.h"
#include "db/rows.h"
#include "db/tuning_database.h"

namespace tmm {

// Bytes that text columns may have, and largest numbers; the CHECKs of schema.sql are as wide or wider.
inline constexpr std::size_t kDeviceNameLimit = 200;
inline constexpr std::size_t kNameLimit = 2000;
inline constexpr std::size_t kTextLimit = 2000;
inline constexpr std::size_t kHashLimit = 500;
inline constexpr std::int64_t kCountLimit = 1'000'000'000;
inline constexpr std::int64_t kLatestTime = std::numeric_limits<std::int64_t>::max();

struct TuningDatabase::Impl {
    Impl(std::filesystem::path path, SQLite::Database opened) : file(std::move(path)), database(std::move(opened)), ids(database) {}

    // Throws std::logic_error where set_environment() was not called.
    const Environment& known_environment() const;
    // Inside a transaction. False where an equal record is there already.
    bool store(const TuningRecord& record);
    // Every record, and a line for each row whose values are out of range.
    std::vector<TuningRecord> load(const std::optional<GemmProblem>& only, std::vector<std::string>* faults);

    std::filesystem::path file;
    SQLite::Database database;
    RowIds ids;
    std::optional<Environment> environment;
};

inline std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The columns that read_measurement() reads, in its order.
std::string measurement_columns(const std::string& alias);
void read_measurement(RowReader& row, Measurement& measurement);

// What a selection keeps of its run-off, of two tables' aliases, and its reader into a TuningRecord or a Decision.
std::string run_off_columns(const std::string& selection, const std::string& runner_up);
template <class Decided>
void read_run_off(RowReader& row, Decided& decided) {
    decided.default_us = row.real_or("default_us", 0);
    decided.runner_up = row.config_if_any();
    decided.runner_up_us = row.real_or("runner_up_us", 0);
    decided.predicted = row.integer("predicted", 0, 1) != 0;
}

}  // namespace tmm
