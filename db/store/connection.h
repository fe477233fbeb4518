// Opening a database file safely, and turning SQLite's errors into ours.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "base/files/file_size_signal.h"
#include "base/files/locked_temporary.h"
#include "db/store/time_limit.h"
#include "db/store/tuning_database.h"

namespace tmm {

// Throws Error (database): what SQLite's error means for the file, and what to do about it.
[[noreturn]] void raise(const SQLite::Exception& error, const std::filesystem::path& file, const TimeLimit& limit);

// Runs the action on a connection that has the limit; SQLite's exceptions leave it as Error.
template <typename Action>
decltype(auto) guarded(const std::filesystem::path& file, const TimeLimit& limit, Action&& action) {
    const FileSizeSignalHeld held;
    try {
        return std::forward<Action>(action)();
    } catch (const SQLite::Exception& error) {
        raise(error, file, limit);
    }
}

struct Connection {
    // The database refers to it.
    std::unique_ptr<TimeLimit> limit;
    // The directory that the database is in where what a killed writer left had to be undone for a reader.
    std::unique_ptr<LockedTemporary> directory;
    SQLite::Database database;
};

// A connection with tmm's settings to tables of today's version. A file that is not tmm's is never written to, nor is any by read_only: of
// an older version, and of a file with a killed writer's journal, it reads a copy.
Connection open_database(const std::filesystem::path& file, TuningDatabase::Mode mode, const Patience& patience);

}  // namespace tmm
