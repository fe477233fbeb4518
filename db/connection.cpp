// Opens a database file: whose it is, how new it is, and the settings every connection has.
#include "db/connection.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <system_error>

#include "db/migrations.h"
#include "generator/error.h"

namespace tmm {
namespace {

namespace fs = std::filesystem;
using Mode = TuningDatabase::Mode;

constexpr const char* kUseAnother = "name another file with --db or TMM_DB";

[[noreturn]] void fail(const fs::path& file, std::string what, std::string remedy) {
    throw Error(ExitStatus::database, std::move(what), file.string(), std::move(remedy));
}

[[noreturn]] void fail_foreign(const fs::path& file) {
    fail(file, "this is a file of another program, not a tuning database", std::string(kUseAnother) + "; this one was left as it is");
}

void prepare_path(const fs::path& file, Mode mode) {
    std::error_code error;
    const auto status = fs::status(file, error);
    if (fs::is_directory(status)) fail(file, "this is a directory, not a tuning database", kUseAnother);
    if (fs::exists(status) && !fs::is_regular_file(status)) fail(file, "this is no regular file", kUseAnother);
    if (fs::exists(status)) return;
    if (mode != Mode::read_write_create)
        fail(file, "there is no tuning database", "run tmm-tune to make one, or name one with --db or TMM_DB");
    const auto directory = file.parent_path();
    if (directory.empty()) return;
    fs::create_directories(directory, error);
    if (error) fail(file, fmt::format("the directory can't be made: {}", error.message()), kUseAnother);
}

std::string uri_of(const fs::path& file) {
    std::string uri = "file:";
    for (const char c : file.string())
        if (c == '?' || c == '#' || c == '%')
            uri += fmt::format("%{:02x}", static_cast<unsigned>(c));
        else
            uri += c;
    return uri + "?immutable=1";
}

// Whose file is it? Looks without a lock and without rolling back a journal, so a stranger's file stays as it is.
void refuse_foreign(const fs::path& file) {
    std::error_code error;
    if (!fs::exists(file, error) || fs::file_size(file, error) == 0) return;
    // Somebody may be writing it just now: then only the locked look that follows can be trusted.
    const bool in_transaction = fs::exists(file.string() + "-journal", error);
    try {
        SQLite::Database look(uri_of(file), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
        if (look.execAndGet("PRAGMA application_id").getInt() == kApplicationId) return;
        if (in_transaction && look.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0) return;
    } catch (const SQLite::Exception& failure) {
        if (in_transaction || failure.getErrorCode() != SQLITE_NOTADB) return;
    }
    fail_foreign(file);
}

// The program's view of the file, under SQLite's locks; refuses what is not ours.
void check_identity(SQLite::Database& database, const fs::path& file, Mode mode) {
    const int id = database.execAndGet("PRAGMA application_id").getInt();
    const int version = database.execAndGet("PRAGMA user_version").getInt();
    const bool empty = database.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0;
    if (empty && id == 0 && version == 0) {
        if (mode == Mode::read_write_create) return;
        fail(file, "the file is empty", "run tmm-tune to fill it, or name another with --db or TMM_DB");
    }
    if (id != kApplicationId) fail_foreign(file);
    if (version > TuningDatabase::kVersion)
        fail(file, fmt::format("the database has version {}, and this tmm reads versions up to {}", version, TuningDatabase::kVersion),
             std::string("update tmm, or ") + kUseAnother);
    if (version < TuningDatabase::kVersion && (mode == Mode::read_only || sqlite3_db_readonly(database.getHandle(), "main") == 1))
        fail(file,
             fmt::format("the database has the older version {}, and can't be brought to version {} without writing", version,
                         TuningDatabase::kVersion),
             "open it once with write permission: tmm-db verify --db FILE");
}

void configure(SQLite::Database& database, Mode mode, int busy_timeout_ms) {
    database.setBusyTimeout(busy_timeout_ms);
    sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    database.exec("PRAGMA trusted_schema = OFF");
    database.exec("PRAGMA foreign_keys = ON");
    database.exec("PRAGMA synchronous = FULL");
    if (mode == Mode::read_only) database.exec("PRAGMA query_only = ON");
}

}  // namespace

[[noreturn]] void raise(const SQLite::Exception& error, const fs::path& file) {
    const std::string reason = error.what();
    switch (error.getErrorCode() & 0xff) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            fail(file, "the database is locked by another process, and stayed so while this one waited",
                 std::string("let that one finish, or ") + kUseAnother);
        case SQLITE_CORRUPT:
            fail(file, fmt::format("the database is damaged ({})", reason), "restore a copy, or move it away and tune again");
        case SQLITE_NOTADB: fail_foreign(file);
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_AUTH:
            fail(file, fmt::format("the database can't be written to ({})", reason), "check its permissions and its directory's");
        case SQLITE_CANTOPEN:
            fail(file, fmt::format("the database can't be opened ({})", reason), "check its permissions and its directory's");
        case SQLITE_FULL: fail(file, "the disk is full", "make room, then go on: nothing stored before is lost");
        case SQLITE_IOERR:
            fail(file, fmt::format("reading or writing failed ({})", reason), "check the disk; nothing stored before is lost");
        case SQLITE_CONSTRAINT: fail(file, fmt::format("a value is outside its range ({})", reason), "nothing was stored");
        default: fail(file, fmt::format("the database is damaged ({})", reason), "restore a copy, or move it away and tune again");
    }
}

SQLite::Database open_database(const fs::path& file, Mode mode, int busy_timeout_ms) {
    prepare_path(file, mode);
    refuse_foreign(file);
    return guarded(file, [&] {
        const int flags = mode == Mode::read_only           ? SQLite::OPEN_READONLY
                          : mode == Mode::read_write_create ? SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE
                                                            : SQLite::OPEN_READWRITE;
        // Of a name alone SQLite would take some for no file at all, such as ":memory:".
        SQLite::Database database(fs::absolute(file), flags);
        configure(database, mode, busy_timeout_ms);
        check_identity(database, file, mode);
        if (mode == Mode::read_only || sqlite3_db_readonly(database.getHandle(), "main") == 1) return database;
        // WAL can corrupt under concurrent writers before SQLite 3.51.3, and fails on NFS.
        if (database.execAndGet("PRAGMA journal_mode").getString() != "delete") database.exec("PRAGMA journal_mode = DELETE");
        bring_up_to_date(database, embedded_schema(TuningDatabase::kVersion));
        return database;
    });
}

}  // namespace tmm
