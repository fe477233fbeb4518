// Files that lie beside a database under the names that SQLite gives its journal, its write-ahead log and that log's index. Whoever may
// write in the directory chose them.
#pragma once

#include <filesystem>
#include <string>

namespace tmm {

// Says why SQLite must not open the database while such a file lies beside it, in a sentence that names the file; empty where it may.
std::string why_not_beside(const std::filesystem::path& database);

// The name of the SQLite file system that tmm opens databases with. It opens no journal and no log that is not a plain file of one name,
// and never follows a journal to the super-journal of several databases, which SQLite would delete: tmm never attaches one.
const char* guarded_vfs();

}  // namespace tmm
