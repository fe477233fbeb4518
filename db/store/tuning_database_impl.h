// Declarations that TuningDatabase's source files share.
#pragma once

#include <SQLiteCpp/Database.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "db/store/connection.h"
#include "db/store/ranges.h"
#include "db/store/records.h"
#include "db/store/rows.h"
#include "db/store/tuning_database.h"

namespace tmm {

struct StoredRecord {
    // Rows of its table are written with ascending ids.
    std::int64_t id = 0;
    TuningRecord record = {};
};

struct StoredRates {
    std::int64_t id = 0;
    RatesRecord record = {};
};

// A row that is no record, or several of one table.
struct RowFault {
    const char* table = nullptr;
    // 0 where it stands for `count` rows.
    std::int64_t id = 0;
    std::int64_t count = 1;
    // "slice_k is 77, outside 1 … 64".
    std::string what = {};
};

// "measurement" or "selection".
const char* table_of(TuningRecord::Kind kind);
// All that a record says, as its row would. Equal records give the same text.
std::string content_of(const TuningRecord& record);
std::string content_of(const RatesRecord& record);

// The connections of a process write one after another: SQLite lets those that come meanwhile look again every few milliseconds.
class SoleWriter {
public:
    SoleWriter() : lock_(mutex_) {}

private:
    static inline std::mutex mutex_;
    const std::lock_guard<std::mutex> lock_;
};

struct TuningDatabase::Impl {
    Impl(std::filesystem::path path, Connection opened)
        : file(std::move(path)),
          limit(std::move(opened.limit)),
          directory(std::move(opened.directory)),
          database(std::move(opened.database)),
          ids(database) {}

    // Throws std::logic_error where set_environment() was not called.
    const Environment& known_environment() const;
    // These store rows as the newest of their tables. They are called inside a transaction.
    void store_results(const GemmProblem& problem, const MeasurementPolicy& policy, const std::vector<CandidateResult>& results);
    void store_announcements(const GemmProblem& problem, const std::vector<Announcement>& announcements);
    void store(const TuningRecord& record);
    // Stores what was made now, whatever the clock says: the time becomes no earlier than that of the table's last row, and later than that
    // of each row that this one takes the place of, so that merging by time keeps them in this order.
    void store_new(TuningRecord record);
    void store(const RatesRecord& record);
    // Stores the records that are not there yet, each in its place, and returns how many were new. It is called inside a transaction.
    Inserted merge_in(const std::vector<TuningRecord>& records);
    int merge_in(const std::vector<RatesRecord>& records);
    // Every record in the order they were written, and the rows that are none.
    std::vector<StoredRecord> load(const std::optional<GemmProblem>& only, std::vector<RowFault>* faults);
    std::vector<StoredRates> load_rates(std::vector<RowFault>* faults);
    // Adds a fault for the table's rows of which no more than `seen` were read, since the others refer to rows that are missing.
    void add_unseen(const char* table, std::int64_t seen, std::int64_t only_problem, std::vector<RowFault>& faults);
    // Counts the faults in left_out, or in a log line where that is null.
    void tell(const std::vector<RowFault>& faults, LeftOut* left_out) const;

    // Rows that come again would come without end, and take memory each time. Throws Error (database).
    void refuse_repeated(const char* table);
    [[noreturn]] void fail_repeated(const char* table) const;

    std::filesystem::path file;
    std::unique_ptr<TimeLimit> limit;
    std::unique_ptr<LockedTemporary> directory;
    SQLite::Database database;
    RowIds ids;
    std::optional<Environment> environment;
};

// Nanoseconds, as C++ counts them, would not reach to these years.
inline std::int64_t now() {
    return std::clamp<std::int64_t>(std::time(nullptr), kEarliestTime, kLatestTime);
}
// A later time is one of a clock that was ahead: those of machines that merge their databases differ by less than a day.
inline std::int64_t latest_credible_time() {
    return std::min(now() + 24 * std::int64_t{3600}, kLatestTime);
}

// The columns of device and environment, d and e, that read_environment() reads, in its order.
inline constexpr const char* kEnvironmentColumns =
    "d.name, d.compute_capability, d.sm_count, e.memory_bytes, e.power_limit, e.driver_version, e.nvrtc_version";
void read_environment(RowReader& row, Environment& environment);

// The columns that read_measurement() reads, in its order.
std::string measurement_columns(const std::string& alias);
void read_measurement(RowReader& row, Measurement& measurement);

// The columns that a selection keeps of its run-off, named by two tables' aliases, and a function that reads them into a TuningRecord or a
// Decision.
std::string run_off_columns(const std::string& selection, const std::string& runner_up);
template <class Decided>
void read_run_off(RowReader& row, Decided& decided) {
    decided.default_us = row.real_or("default_us", 0);
    decided.runner_up = row.config_if_any();
    decided.runner_up_us = row.real_or("runner_up_us", 0);
    decided.predicted = row.integer("predicted", 0, 1) != 0;
}

}  // namespace tmm
