// Opens a database file: checks whose it is and how new it is, and makes the settings that every connection has.
#include "db/store/connection.h"

#include <SQLiteCpp/Backup.h>
#include <fmt/core.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <system_error>

#include "base/error.h"
#include "base/text/environment.h"
#include "db/store/database_file.h"
#include "db/store/migration.h"
#include "db/store/schema_check.h"

namespace tmm {
namespace {

namespace fs = std::filesystem;
using Mode = TuningDatabase::Mode;

// Checks the file under SQLite's locks, and refuses one that is not ours.
void check_identity(SQLite::Database& database, const fs::path& file, Mode mode) {
    const int id = database.execAndGet("PRAGMA application_id").getInt();
    const int version = database.execAndGet("PRAGMA user_version").getInt();
    if (is_empty(database) && id == 0 && version == 0) {
        if (mode == Mode::read_write_create) return;
        fail_database(file, "the file is empty", "run tmm-tune to fill it, or name another with --db or TMM_DB");
    }
    if (id != kApplicationId) fail_foreign(file);
    if (version > TuningDatabase::kVersion)
        fail_database(file,
                      fmt::format("the database has version {}, and this tmm reads versions up to {}", version, TuningDatabase::kVersion),
                      std::string("update tmm, or ") + kUseAnother);
    if (version < TuningDatabase::kVersion && mode != Mode::read_only && sqlite3_db_readonly(database.getHandle(), "main") == 1)
        fail_database(file,
                      fmt::format("the database has the older version {}, and can't be brought to version {} without writing", version,
                                  TuningDatabase::kVersion),
                      "check the permissions of the file and of its directory");
}

void configure(SQLite::Database& database, Mode mode, TimeLimit& limit) {
    limit.attach(database.getHandle());
    // In files, temporary data would be where TMPDIR says, which SQLite obeys in a set-user-ID program, too. Setting this later would drop
    // views.
    database.exec("PRAGMA temp_store = MEMORY");
    limit_sizes(database);
    forbid_code_in_schema(database);
    database.exec("PRAGMA foreign_keys = ON");
    database.exec("PRAGMA synchronous = FULL");
    if (mode == Mode::read_only) database.exec("PRAGMA query_only = ON");
}

// WAL can corrupt the file under concurrent writers before SQLite 3.51.3, and fails on NFS. Returns false where another connection holds
// the file in WAL mode.
bool leave_wal_mode(SQLite::Database& database) {
    if (database.execAndGet("PRAGMA journal_mode").getString() == "delete") return true;
    try {
        return database.execAndGet("PRAGMA journal_mode = DELETE").getString() == "delete";
    } catch (const SQLite::Exception& error) {
        if ((error.getErrorCode() & 0xff) != SQLITE_BUSY && (error.getErrorCode() & 0xff) != SQLITE_LOCKED) throw;
        return false;
    }
}

// A connection that only reads may do so while another one holds the file in WAL mode.
void check_readable_in_wal_mode(SQLite::Database& database, const fs::path& file, Mode mode) {
    if (mode == Mode::read_write_create)
        fail_database(
            file, "the database is in SQLite's WAL mode, in which tmm does not write, and another program that has it open keeps it there",
            std::string("close it there, and tmm ends the mode by itself; or ") + kUseAnother);
    if (database.execAndGet("PRAGMA user_version").getInt() < TuningDatabase::kVersion)
        fail_database(
            file,
            "the database has an older version, and can't be brought up to date while another program has it open in SQLite's WAL mode",
            std::string("close it there; or ") + kUseAnother);
    database.exec("PRAGMA query_only = ON");
}

// Tables may compute anything when they are read or written: whoever made the file chose it.
void refuse_code_in_tables(SQLite::Database& database, const fs::path& file) {
    std::string reason = why_tables_compute(database);
    const bool is_current = database.execAndGet("PRAGMA user_version").getInt() == TuningDatabase::kVersion;
    if (reason.empty() && is_current) reason = why_tables_differ(database);
    if (!reason.empty())
        fail_database(file, fmt::format("the database is damaged ({})", reason),
                      "restore a copy, or move it away and tune again; nothing in it was run");
}

// Gives SQLite's reason, or the system's where SQLite only knows that something was refused.
std::string why(const SQLite::Exception& error, const fs::path& path) {
    const std::string refusal = why_not_writable(path);
    return refusal.empty() ? error.what() : fmt::format("{}; {}", error.what(), refusal);
}

SQLite::Database connect(const fs::path& file, const fs::path& path, Mode mode, TimeLimit& limit) {
    const int flags = mode == Mode::read_write_create ? SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE : SQLite::OPEN_READWRITE;
    SQLite::Database database(path, flags, 0, guarded_vfs());
    configure(database, mode, limit);
    check_identity(database, file, mode);
    refuse_code_in_tables(database, file);
    if (sqlite3_db_readonly(database.getHandle(), "main") == 1) return database;
    if (leave_wal_mode(database))
        bring_up_to_date(database, embedded_schema());
    else
        check_readable_in_wal_mode(database, file, mode);
    return database;
}

// A file whose length is more than its disk's blocks account for is mostly a hole, which would fill the memory.
void check_can_be_copied(SQLite::Database& source, const fs::path& file, const fs::path& path) {
    constexpr std::int64_t kMostBytesPerBlock = 16 * std::int64_t{512};
    constexpr std::int64_t kAlways = 64 << 20;
    struct stat status {};
    const std::int64_t blocks = stat(path.c_str(), &status) == 0 ? std::int64_t{status.st_blocks} : 0;
    const std::int64_t bytes = source.execAndGet("PRAGMA page_count").getInt64() * source.execAndGet("PRAGMA page_size").getInt64();
    if (bytes > kAlways + blocks * kMostBytesPerBlock)
        fail_database(file, "the database is damaged (it is longer than what its disk holds of it)", kRestore);
}

// The tables of an older version as today's, in memory.
SQLite::Database migrated_copy(SQLite::Database& source, const fs::path& file, const fs::path& path, TimeLimit& limit) {
    check_can_be_copied(source, file, path);
    SQLite::Database copy(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_MEMORY);
    SQLite::Backup(copy, source).executeStep(-1);
    configure(copy, Mode::read_write, limit);
    bring_up_to_date(copy, embedded_schema(), file.string());
    copy.exec("PRAGMA query_only = ON");
    return copy;
}

SQLite::Database connect_for_reading(const fs::path& file, const fs::path& path, int flags, TimeLimit& limit) {
    SQLite::Database database(path, flags, 0, guarded_vfs());
    configure(database, Mode::read_only, limit);
    check_identity(database, file, Mode::read_only);
    refuse_code_in_tables(database, file);
    if (database.execAndGet("PRAGMA user_version").getInt() == TuningDatabase::kVersion) return database;
    return migrated_copy(database, file, path, limit);
}

// What a reader may not undo or make in the file's place it does in a copy.
bool needs_copy(const SQLite::Exception& error, bool is_wal) {
    const int code = error.getErrorCode() & 0xff;
    return error.getExtendedErrorCode() == SQLITE_READONLY_ROLLBACK || (is_wal && (code == SQLITE_CANTOPEN || code == SQLITE_READONLY));
}

// Copies the file with its journal or log to a directory of this process. A writer who comes meanwhile changes one of them.
std::unique_ptr<LockedTemporary> copied_with_sidecars(const fs::path& file, const fs::path& path) {
    constexpr int kAttempts = 5;
    auto directory = std::make_unique<LockedTemporary>(temporary_directory(), LockedTemporary::Kind::directory, "database");
    const auto state = [&] {
        std::string text;
        for (const char* suffix : {"", "-journal", "-wal"}) {
            struct stat status {};
            if (stat((path.string() + suffix).c_str(), &status) == 0)
                text += fmt::format("{} {} {} {} ", status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
            text += ',';
        }
        return text;
    };
    for (int i = 0; i < kAttempts; ++i) {
        const std::string before = state();
        for (const char* suffix : {"", "-journal", "-wal"}) {
            std::error_code error;
            const fs::path copy = (directory->path() / "tmm.db").string() + suffix;
            fs::remove(copy, error);
            if (fs::exists(path.string() + suffix, error)) fs::copy_file(path.string() + suffix, copy, error);
            if (error)
                fail_database(file, fmt::format("what a killed writer left can't be undone in a copy: {}", error.message()), kRestore);
        }
        if (state() == before) return directory;
    }
    fail_database(file, "the database changes all the time, and what a killed writer left can't be undone",
                  "wait until its writers have ended");
}

// The limit stays the caller's until the connection is there, since it says why reading failed.
Connection open_for_reading(const fs::path& file, const fs::path& path, bool is_wal, std::unique_ptr<TimeLimit>& limit) {
    try {
        SQLite::Database database = connect_for_reading(file, path, SQLite::OPEN_READONLY, *limit);
        return {.limit = std::move(limit), .directory = nullptr, .database = std::move(database)};
    } catch (const SQLite::Exception& error) {
        if (!needs_copy(error, is_wal)) throw;
    }
    std::unique_ptr<LockedTemporary> directory;
    try {
        directory = copied_with_sidecars(file, path);
    } catch (const std::system_error& error) {
        fail_database(file, fmt::format("what a killed writer left can't be undone in a copy: {}", error.what()),
                      "let TMPDIR name a directory of your own");
    }
    SQLite::Database database = connect_for_reading(file, directory->path() / "tmm.db", SQLite::OPEN_READWRITE, *limit);
    return {.limit = std::move(limit), .directory = std::move(directory), .database = std::move(database)};
}

}  // namespace

[[noreturn]] void raise(const SQLite::Exception& error, const fs::path& file, const TimeLimit& limit) {
    const std::string reason = error.what();
    switch (error.getErrorCode() & 0xff) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            if (limit.was_exceeded()) limit.fail(file);
            fail_database(file, "the database is locked by another process, and stayed so while this one waited",
                          std::string("let that one finish, or ") + kUseAnother);
        case SQLITE_INTERRUPT: limit.fail(file);
        case SQLITE_CORRUPT: fail_database(file, fmt::format("the database is damaged ({})", reason), kRestore);
        case SQLITE_NOTADB: fail_foreign(file);
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_AUTH:
            fail_database(file, fmt::format("the database can't be written to ({})", why(error, file)),
                          "check the permissions of the file and of its directory");
        case SQLITE_CANTOPEN:
            fail_database(file, fmt::format("the database can't be opened ({})", why(error, file)),
                          "check the permissions of the file and of its directory");
        case SQLITE_NOMEM:
            fail_database(file, "memory is too short to read the database", "free some and run again; nothing stored before is lost");
        case SQLITE_FULL: fail_database(file, "the disk is full", "make room, then go on: nothing stored before is lost");
        case SQLITE_IOERR:
            fail_database(file, fmt::format("reading or writing failed ({})", reason), "check the disk; nothing stored before is lost");
        case SQLITE_CONSTRAINT: fail_database(file, fmt::format("a value is outside its range ({})", reason), "nothing was stored");
        default: fail_database(file, fmt::format("the database is damaged ({})", reason), kRestore);
    }
}

Connection open_database(const fs::path& file, Mode mode, const Patience& patience) {
    const fs::path path = database_path(file, mode);
    auto limit = std::make_unique<TimeLimit>(patience, path);
    const bool is_wal = look_at_database(file, path, *limit);
    return guarded(file, *limit, [&] {
        if (mode == Mode::read_only) return open_for_reading(file, path, is_wal, limit);
        try {
            SQLite::Database database = connect(file, path, mode, *limit);
            return Connection{.limit = std::move(limit), .directory = nullptr, .database = std::move(database)};
        } catch (const SQLite::Exception& error) {
            const int code = error.getErrorCode() & 0xff;
            if (!is_wal || (code != SQLITE_CANTOPEN && code != SQLITE_READONLY)) throw;
            fail_database(
                file,
                fmt::format("the database is in SQLite's WAL mode, in which reading needs files beside it that can't be made ({})",
                            why(error, path)),
                "copy it to where you may write, or end the mode: sqlite3 FILE 'PRAGMA journal_mode = DELETE'");
        }
    });
}

}  // namespace tmm
