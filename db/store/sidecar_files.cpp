#include "db/store/sidecar_files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

namespace tmm {
namespace {

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

}  // namespace

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
