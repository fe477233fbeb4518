#include "base/files/locked_temporary.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/files/trusted_path.h"

namespace tmm {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "tmm-tmp-";
// What tmm 0.2 left is not locked: it is taken for abandoned when it is a day old.
constexpr std::string_view kUnlockedPrefixes[] = {"tmm-compile-", "tmm-kernel-"};
constexpr std::int64_t kUnlockedSeconds = 24 * std::int64_t{3600};
// Another process may take a new temporary for abandoned until it is locked; then the next name is tried.
constexpr int kAttempts = 100;

bool is_still_there(const fs::path& path, const FileDescriptor& opened) {
    struct stat named, ours;
    return fstat(opened.get(), &ours) == 0 && lstat(path.c_str(), &named) == 0 && named.st_dev == ours.st_dev &&
           named.st_ino == ours.st_ino;
}

FileDescriptor make(std::string& name, LockedTemporary::Kind kind) {
    if (kind == LockedTemporary::Kind::file) return FileDescriptor(mkostemp(name.data(), O_CLOEXEC));
    if (!mkdtemp(name.data())) return {};
    // A umask may have taken this user's own rights.
    chmod(name.c_str(), 0700);
    return FileDescriptor(open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool is_abandoned(const FileDescriptor& opened, std::string_view name) {
    struct stat status;
    if (!opened || fstat(opened.get(), &status) != 0 || status.st_uid != geteuid()) return false;
    if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) return false;
    if (name.starts_with(kPrefix)) return try_lock(opened) == Lock::taken;
    for (const std::string_view prefix : kUnlockedPrefixes)
        if (name.starts_with(prefix)) return status.st_mtim.tv_sec + kUnlockedSeconds < std::time(nullptr);
    return false;
}

void remove_if_abandoned(const fs::path& path) {
    // Locked until it is gone: whoever has just made it then tries another name.
    const FileDescriptor opened(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    std::error_code ignored;
    if (is_abandoned(opened, path.filename().string())) fs::remove_all(path, ignored);
}

}  // namespace

FileDescriptor::~FileDescriptor() {
    close();
}

bool FileDescriptor::close() {
    return number_ < 0 || ::close(std::exchange(number_, -1)) == 0;
}

Lock try_lock(const FileDescriptor& file) {
    int result = 0;
    while ((result = flock(file.get(), LOCK_EX | LOCK_NB)) != 0 && errno == EINTR) {
    }
    if (result == 0) return Lock::taken;
    return errno == EWOULDBLOCK ? Lock::held_by_another : Lock::unknown_here;
}

bool has_name(const FileDescriptor& file, int directory, const char* name) {
    struct stat opened, named;
    return fstat(file.get(), &opened) == 0 && fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

LockedTemporary::LockedTemporary(const fs::path& below, Kind kind, const std::string& use) {
    std::error_code ignored;
    const std::string fault = fs::exists(below, ignored) ? why_others_can_replace(below, NamedBy::chance) : std::string();
    if (!fault.empty())
        throw Error(ExitStatus::no_compiler, "others could replace the code that is compiled and loaded here, since " + fault,
                    below.string(), "let TMPDIR name a directory of your own with mode 0700, or have the sticky bit set: chmod +t");
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        std::string name = (below / (std::string(kPrefix) + use + "-XXXXXX")).string();
        FileDescriptor opened = make(name, kind);
        const int error = errno;
        if (!opened && error == ENOENT && fs::exists(below)) continue;
        if (!opened) throw std::system_error(error, std::generic_category(), name);
        if (try_lock(opened) == Lock::held_by_another || !is_still_there(name, opened)) continue;
        path_ = name;
        descriptor_ = std::move(opened);
        return;
    }
    throw std::system_error(EBUSY, std::generic_category(), below.string());
}

LockedTemporary::~LockedTemporary() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

void remove_abandoned_temporaries(const fs::path& below) noexcept {
    try {
        std::error_code error;
        if (!fs::exists(below, error) || !why_others_can_replace(below, NamedBy::chance).empty()) return;
        for (fs::directory_iterator entry(below, error), end; !error && entry != end; entry.increment(error)) {
            if (entry->path().filename().string().starts_with("tmm-")) remove_if_abandoned(entry->path());
        }
    } catch (const std::exception&) {
        // Whoever comes next may have more luck.
    }
}

}  // namespace tmm
