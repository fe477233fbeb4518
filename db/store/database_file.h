// Finds the file that a database's name means, and what can be said of it before it is opened for work.
#pragma once

#include <filesystem>
#include <string>

#include "db/store/time_limit.h"
#include "db/store/tuning_database.h"

namespace tmm {

inline constexpr const char* kUseAnother = "name another file with --db or TMM_DB";
inline constexpr const char* kRestore = "restore a copy, or move it away and tune again";

// Throws Error (database) about the file.
[[noreturn]] void fail_database(const std::filesystem::path& file, std::string what, std::string remedy);
[[noreturn]] void fail_foreign(const std::filesystem::path& file);

// The name as a path from the root without symbolic links, which SQLite never reads as anything but a plain file's. With read_write_create
// its directory exists afterwards. Throws Error (database) where the name can't be a database's: empty, a directory's, too long, of no
// regular file, missing, or with something beside it that is no companion of a database.
std::filesystem::path database_path(const std::filesystem::path& file, TuningDatabase::Mode mode);

// Looks at the file without a lock and without rolling back a journal, so that a stranger's file stays as it is. `path` is what
// database_path() made of `file`. Throws Error (database) where it is another program's. Returns true where the file is in SQLite's WAL
// mode.
bool look_at_database(const std::filesystem::path& file, const std::filesystem::path& path, TimeLimit& limit);

// Says why the system refuses to open the file for writing, in the system's words; empty where it does not.
std::string why_not_writable(const std::filesystem::path& path);

// What follows is of the files beside a database that SQLite takes for its journal, its write-ahead log and that log's index. Whoever may
// write in the directory chose them.

// Says why SQLite must not open the database while such a file lies beside it, in a sentence that names the file; empty where it may.
std::string why_not_beside(const std::filesystem::path& database);

// The name of the SQLite file system that tmm opens databases with. It opens no journal and no log that is not a plain file of one name,
// and never follows a journal to the super-journal of several databases, which SQLite would delete: tmm never attaches one.
const char* guarded_vfs();

}  // namespace tmm
