// Takes rows out of a database for good.
#include <SQLiteCpp/Transaction.h>
#include <fmt/core.h>
#include <sqlite3.h>

#include <string>

#include "db/store/tuning_database_impl.h"
#include "generator/machine/device_info.h"

namespace tmm {
namespace {

// The condition for rows of the device that a later one of the same subject has taken the place of. subject and order: columns of x.
std::string superseded(const char* table, std::int64_t device, const char* subject, const char* order) {
    return fmt::format(
        "id IN (SELECT id FROM (SELECT x.id, row_number() OVER (PARTITION BY {} ORDER BY {}) AS place FROM {} AS x "
        "JOIN environment AS e ON e.id = x.environment_id WHERE e.device_id = {}) WHERE place > 1)",
        subject, order, table, device);
}

// Removes the rows of one device, or counts them.
class Remover {
public:
    Remover(SQLite::Database& database, const TuningDatabase::ForgetRequest& request, std::optional<std::int64_t> problem)
        : database_(database), request_(request), problem_(problem) {}

    void remove(std::int64_t device, TuningDatabase::Forgotten& forgotten) {
        forgotten.measurements += removed("measurement", device, "x.problem_id, x.config_id, x.policy_id, x.kernel_hash", "x.id DESC");
        // A decision that was measured counts more than a later one that was predicted.
        forgotten.decisions += removed("selection", device, "x.problem_id, x.compute, x.policy_id, x.origin", "x.predicted, x.id DESC");
        if (!request_.only_superseded)
            forgotten.announcements += changed("in_flight", fmt::format("device_id = {}{}", device, of_problem()));
        // What was measured of a device itself belongs to no problem.
        if (!request_.problem) forgotten.profiles += removed("machine_rates", device, "x.environment_id", "x.id DESC");
    }

private:
    std::string of_problem() const { return problem_ ? fmt::format(" AND problem_id = {}", *problem_) : ""; }

    int removed(const char* table, std::int64_t device, const char* subject, const char* order) {
        const std::string rows = request_.only_superseded
                                     ? superseded(table, device, subject, order)
                                     : fmt::format("environment_id IN (SELECT id FROM environment WHERE device_id = {})", device);
        return changed(table, rows + of_problem());
    }

    int changed(const char* table, const std::string& condition) {
        if (!request_.only_count) return SQLite::Statement(database_, fmt::format("DELETE FROM {} WHERE {}", table, condition)).exec();
        return database_.execAndGet(fmt::format("SELECT count(*) FROM {} WHERE {}", table, condition)).getInt();
    }

    SQLite::Database& database_;
    const TuningDatabase::ForgetRequest& request_;
    std::optional<std::int64_t> problem_;
};

// Removes rows that nothing refers to any more.
void remove_orphans(SQLite::Database& database) {
    for (const char* sql :
         {"DELETE FROM environment WHERE id NOT IN (SELECT environment_id FROM measurement UNION SELECT environment_id FROM selection "
          "UNION SELECT environment_id FROM machine_rates)",
          "DELETE FROM device WHERE id NOT IN (SELECT device_id FROM environment UNION SELECT device_id FROM in_flight)",
          "DELETE FROM problem WHERE id NOT IN (SELECT problem_id FROM measurement UNION SELECT problem_id FROM selection UNION SELECT "
          "problem_id FROM in_flight)",
          "DELETE FROM config WHERE id NOT IN (SELECT config_id FROM measurement UNION SELECT config_id FROM selection UNION SELECT "
          "runner_up_config_id FROM selection WHERE runner_up_config_id IS NOT NULL UNION SELECT config_id FROM in_flight)",
          "DELETE FROM policy WHERE id NOT IN (SELECT policy_id FROM measurement UNION SELECT policy_id FROM selection)"})
        database.exec(sql);
}

// Makes the file smaller, for which SQLite attaches another database for a moment. A file that stays large is no reason to say that nothing
// was forgotten.
void shrink(SQLite::Database& database) {
    sqlite3_limit(database.getHandle(), SQLITE_LIMIT_ATTACHED, 1);
    database.tryExec("VACUUM");
    sqlite3_limit(database.getHandle(), SQLITE_LIMIT_ATTACHED, 0);
}

}  // namespace

TuningDatabase::Forgotten TuningDatabase::forget(const ForgetRequest& request) {
    return guarded(impl_->file, *impl_->limit, [&] {
        SQLite::Database& database = impl_->database;
        Forgotten forgotten;
        const SoleWriter writer;
        SQLite::Transaction transaction(
            database, request.only_count ? SQLite::TransactionBehavior::DEFERRED : SQLite::TransactionBehavior::IMMEDIATE);
        std::optional<std::int64_t> problem;
        if (request.problem) problem = impl_->ids.find("problem", cells_of(*request.problem));
        if (request.problem && !problem) return forgotten;
        Remover remover(database, request, problem);
        for (const DeviceModel& device : request.devices)
            if (const auto id = impl_->ids.find_device(device_of(device))) remover.remove(*id, forgotten);
        if (!request.only_count) {
            remove_orphans(database);
            transaction.commit();
            shrink(database);
        }
        return forgotten;
    });
}

}  // namespace tmm
