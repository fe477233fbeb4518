#include "db/store/database_file.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/error.h"
#include "base/files/private_files.h"
#include "db/store/migration.h"
#include "db/store/schema_check.h"

namespace tmm {
namespace {

namespace fs = std::filesystem;
using Mode = TuningDatabase::Mode;

// The last bytes of a journal that belongs to a transaction over several databases.
constexpr std::array<unsigned char, 8> kSuperJournalMark = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};

// The reason is empty where the file is missing, or is what SQLite makes.
std::string why_no_companion(const std::string& name) {
    struct stat status {};
    if (lstat(name.c_str(), &status) != 0) return {};
    if (!S_ISREG(status.st_mode)) return fmt::format("{} is no regular file", name);
    // A second name may be that of a file that the user did not mean to have written to.
    if (status.st_nlink > 1) return fmt::format("{} has a second name elsewhere, being a hard link", name);
    return {};
}

bool names_super_journal(const std::string& journal) {
    const int file = open(journal.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return false;
    std::array<unsigned char, kSuperJournalMark.size()> tail{};
    const auto length = static_cast<off_t>(tail.size());
    const off_t end = lseek(file, 0, SEEK_END);
    const bool is_read = end >= length && pread(file, tail.data(), tail.size(), end - length) == length;
    close(file);
    return is_read && tail == kSuperJournalMark;
}

// This VFS is the system's own except for the way in which a file is opened.
struct GuardedVfs : sqlite3_vfs {
    explicit GuardedVfs(sqlite3_vfs* original) : sqlite3_vfs(*original), system(original) {
        zName = "tmm";
        pNext = nullptr;
        xOpen = open_guarded;
    }
    sqlite3_vfs* system;

    static int open_guarded(sqlite3_vfs* self, const char* name, sqlite3_file* file, int flags, int* out_flags) {
        sqlite3_vfs* const system = static_cast<GuardedVfs*>(self)->system;
        const bool is_companion = (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)) != 0;
        if ((flags & SQLITE_OPEN_SUPER_JOURNAL) == 0 && (!is_companion || !name || why_no_companion(name).empty()))
            return system->xOpen(system, name, file, flags, out_flags);
        file->pMethods = nullptr;
        return SQLITE_CANTOPEN;
    }
};

// SQLite appends as much to a database's name to name its journal.
constexpr std::size_t kJournalSuffix = 8;

fs::path absolute_path(const fs::path& file) {
    std::error_code error;
    fs::path path = fs::absolute(file, error);
    if (error)
        fail_database(file, fmt::format("the current directory is not known: {}", error.message()), "name the file by its whole path");
    return path;
}

void check_name(const fs::path& file) {
    if (file.empty()) fail_database(file, "the name of the tuning database is empty", "name a file with --db or TMM_DB");
    const fs::path last = file.filename();
    if (last.empty() || last == "." || last == "..")
        fail_database(file, "this is the name of a directory, not of a tuning database", kUseAnother);
}

// SQLite puts a journal beside the file that symbolic links lead to. Where they can't be followed, looking at the file says why.
fs::path resolved(const fs::path& path) {
    std::error_code error;
    fs::path whole = fs::weakly_canonical(path, error);
    return error ? path : whole;
}

void check_length(const fs::path& file, const fs::path& path) {
    const std::size_t length = path.native().size();
    const std::size_t most = static_cast<std::size_t>(sqlite3_vfs_find(nullptr)->mxPathname) - kJournalSuffix - 1;
    if (length > most)
        fail_database(file, fmt::format("the path is too long: it has {} bytes, and SQLite takes at most {}", length, most), kUseAnother);
}

void check_companions(const fs::path& file, const fs::path& path) {
    if (const std::string reason = why_not_beside(path); !reason.empty())
        fail_database(file, fmt::format("what lies beside the database is none of its own: {}", reason),
                      "look at it, and move it away if it is not yours; nothing was opened");
}

bool exists(const fs::path& file, const fs::path& path) {
    std::error_code error;
    const auto status = fs::status(path, error);
    if (fs::is_directory(status)) fail_database(file, "this is a directory, not a tuning database", kUseAnother);
    if (fs::exists(status) && !fs::is_regular_file(status)) fail_database(file, "this is no regular file", kUseAnother);
    if (status.type() == fs::file_type::none)
        fail_database(file, fmt::format("the database can't be looked at: {}", error.message()), kUseAnother);
    return fs::exists(status);
}

// As the path starts from the root, no part of it is taken for a host or for parameters.
std::string uri_of(const fs::path& path) {
    std::string uri = "file://";
    for (const char c : path.native())
        if (c == '?' || c == '#' || c == '%')
            uri += fmt::format("%{:02x}", static_cast<unsigned>(c));
        else
            uri += c;
    return uri + "?immutable=1";
}

bool has_table(SQLite::Database& database, const char* name) {
    return database.execAndGet(fmt::format("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '{}'", name)).getInt() == 1;
}

// sqlite3's .dump leaves out the two numbers by which a tuning database is known.
[[noreturn]] void fail_restored(const fs::path& file) {
    fail_database(file,
                  "this looks like a tuning database that was restored from an SQL dump, which does not carry its application_id and "
                  "user_version",
                  fmt::format("if it is yours, run: sqlite3 FILE 'PRAGMA application_id = {}; PRAGMA user_version = N', where N is the "
                              "original's user_version (today's is {})",
                              kApplicationId, TuningDatabase::kVersion));
}

// The file's header says by which journal it is written; an immutable connection does not look.
bool is_in_wal_mode(SQLite::Database& database) {
    constexpr int kFormatOffset = 18;
    constexpr unsigned char kWal = 2;
    sqlite3_file* file = nullptr;
    unsigned char format[2] = {};
    return sqlite3_file_control(database.getHandle(), "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK && file->pMethods &&
           file->pMethods->xRead(file, format, sizeof format, kFormatOffset) == SQLITE_OK && format[0] == kWal;
}

}  // namespace

void fail_database(const fs::path& file, std::string what, std::string remedy) {
    throw Error(ExitStatus::database, std::move(what), file.empty() ? "''" : file.string(), std::move(remedy));
}

void fail_foreign(const fs::path& file) {
    fail_database(file, "this is a file of another program, not a tuning database", "name another file; this one was left as it is");
}

fs::path database_path(const fs::path& file, Mode mode) {
    check_name(file);
    fs::path path = resolved(absolute_path(file));
    check_length(file, path);
    const bool is_there = exists(file, path);
    check_companions(file, path);
    if (is_there) return path;
    if (mode != Mode::read_write_create)
        fail_database(file, "there is no tuning database", "run tmm-tune to make one, or name one with --db or TMM_DB");
    if (const std::error_code error = make_private_directories(path.parent_path()))
        fail_database(file, fmt::format("the directory can't be made: {}", error.message()), kUseAnother);
    // SQLite gives a journal the mode of its database. Where this fails, SQLite says what is wrong when it opens the file.
    (void)make_private_file(path);
    return path;
}

bool look_at_database(const fs::path& file, const fs::path& path, TimeLimit& limit) {
    std::error_code error;
    if (!fs::exists(path, error) || fs::file_size(path, error) == 0) return false;
    // Somebody may be writing it just now: then only the locked look that follows can be trusted.
    const bool is_written = fs::exists(path.native() + "-journal", error) || fs::exists(path.native() + "-wal", error);
    try {
        SQLite::Database look(uri_of(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
        limit.attach(look.getHandle());
        limit_sizes(look);
        if (look.execAndGet("PRAGMA application_id").getInt() == kApplicationId) return is_in_wal_mode(look);
        if (is_written && is_empty(look)) return is_in_wal_mode(look);
        if (has_table(look, "measurement") && has_table(look, "selection") && has_table(look, "problem") && has_table(look, "config"))
            fail_restored(file);
    } catch (const SQLite::Exception& failure) {
        if (is_written || failure.getErrorCode() != SQLITE_NOTADB) return false;
    }
    fail_foreign(file);
}

std::string why_not_writable(const fs::path& path) {
    for (const fs::path& place : {path, path.has_parent_path() ? path.parent_path() : fs::path(".")})
        if (faccessat(AT_FDCWD, place.c_str(), W_OK, AT_EACCESS) != 0 && !(place == path && errno == ENOENT))
            return fmt::format("{}: {}", place.string(), std::strerror(errno));
    return {};
}

std::string why_not_beside(const std::filesystem::path& database) {
    const std::string journal = database.native() + "-journal";
    for (const std::string& name : {journal, database.native() + "-wal", database.native() + "-shm"})
        if (std::string reason = why_no_companion(name); !reason.empty()) return reason;
    if (names_super_journal(journal)) return fmt::format("{} ends in the name of another file, which SQLite would delete", journal);
    return {};
}

const char* guarded_vfs() {
    static const GuardedVfs* const vfs = [] {
        auto* const made = new GuardedVfs(sqlite3_vfs_find(nullptr));
        sqlite3_vfs_register(made, 0);
        return made;
    }();
    return vfs->zName;
}

}  // namespace tmm
