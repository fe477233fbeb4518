#include "base/files/output_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <system_error>

#include "base/error.h"
#include "base/files/locked_temporary.h"
#include "base/files/private_files.h"

namespace tmm {
namespace {

namespace fs = std::filesystem;

std::error_code last_error() {
    return {errno, std::generic_category()};
}

std::string remedy_of(const std::error_code& error) {
    if (error == std::errc::no_space_on_device || error.value() == EDQUOT) return "make room on the disk, or name a file on another one";
    if (error == std::errc::file_too_large) return "allow larger files (ulimit -f), or name a file on another disk";
    if (error == std::errc::is_a_directory) return "name a file, not a directory";
    return "name a file in a directory that you may write to";
}

// 128 bits; empty where the system has none to give.
std::string random_name() {
    std::array<std::uint32_t, 4> words{};
    if (getrandom(words.data(), sizeof words, 0) != static_cast<ssize_t>(sizeof words)) return {};
    return fmt::format(".tmm-{:08x}{:08x}{:08x}{:08x}", words[0], words[1], words[2], words[3]);
}

// Where the name leads by links that may be followed: in a directory that others may write to, a link may be theirs.
fs::path followed(fs::path file) {
    constexpr int kMostLinks = 40;
    for (int i = 0; i < kMostLinks; ++i) {
        struct stat status {};
        if (lstat(file.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) break;
        if (status.st_uid != geteuid() && status.st_uid != 0) break;
        std::error_code error;
        const fs::path target = fs::read_symlink(file, error);
        if (error) break;
        file = file.parent_path() / target;
    }
    return file;
}

// A pipe, a terminal, or an open file that a name below /proc or /dev stands for: renaming would take the name away from whoever holds it.
bool is_written_in_place(const fs::path& file) {
    std::error_code error;
    const fs::file_status status = fs::status(file, error);
    if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) return true;
    const std::string path = fs::absolute(file, error).lexically_normal().string();
    return !error && (path.starts_with("/proc/") || path.starts_with("/dev/fd/") || path.starts_with("/dev/std"));
}

std::error_code write_in_place(const fs::path& file, std::string_view bytes) {
    FileDescriptor opened(open(file.c_str(), O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC));
    if (!opened || !write_all(opened.get(), bytes)) return last_error();
    return opened.close() ? std::error_code() : last_error();
}

// A file beside the place that it is to take. It is removed unless it has taken that.
class Beside {
public:
    explicit Beside(const fs::path& file)
        : directory_(open(file.has_parent_path() ? file.parent_path().c_str() : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        if (!directory_) return;
        do {
            name_ = random_name();
            if (name_.empty()) return;
            file_ = FileDescriptor(openat(directory_.get(), name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        } while (!file_ && errno == EEXIST);
    }
    ~Beside() {
        if (file_ && !is_in_place_) unlinkat(directory_.get(), name_.c_str(), 0);
    }
    Beside(const Beside&) = delete;
    Beside& operator=(const Beside&) = delete;

    explicit operator bool() const { return static_cast<bool>(file_); }

    // Fails with errno where that is not possible.
    bool take_permissions(const fs::path& name, const OutputFile& kind) {
        struct stat there {};
        const bool is_there = fstatat(directory_.get(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(there.st_mode);
        // Renaming asks the directory alone; a file that its user has locked against writing stays.
        if (is_there && faccessat(directory_.get(), name.c_str(), W_OK, AT_EACCESS) != 0) return false;
        // A file of a group stays one; who is not in that group gives none to it.
        if (is_there && fchown(file_.get(), static_cast<uid_t>(-1), there.st_gid) != 0) there.st_mode &= ~mode_t{S_IRWXG};
        return fchmod(file_.get(), (is_there ? there.st_mode & 0777 : kind.mode) & ~kind.withheld) == 0;
    }
    bool write(std::string_view bytes) { return write_all(file_.get(), bytes) && fsync(file_.get()) == 0; }
    bool rename_to(const fs::path& name) {
        // Where others may write they could have put a file of theirs in its place.
        if (!has_name(file_, directory_.get(), name_.c_str())) return errno = EACCES, false;
        is_in_place_ = renameat(directory_.get(), name_.c_str(), directory_.get(), name.c_str()) == 0;
        return is_in_place_;
    }

private:
    FileDescriptor directory_;
    FileDescriptor file_;
    std::string name_;
    bool is_in_place_ = false;
};

std::error_code write_beside(const fs::path& file, std::string_view bytes, const OutputFile& kind) {
    std::error_code error;
    if (fs::is_directory(file, error)) return std::make_error_code(std::errc::is_a_directory);
    Beside beside(file);
    const fs::path name = file.filename();
    if (!beside || !beside.take_permissions(name, kind) || !beside.write(bytes) || !beside.rename_to(name)) return last_error();
    return {};
}

}  // namespace

std::optional<FileIdentity> FileIdentity::of(const fs::path& file) {
    struct stat status {};
    FileIdentity identity;
    if (stat(file.c_str(), &status) != 0) {
        if (errno != ENOENT) return std::nullopt;
        const fs::path target = followed(file);
        if (stat(target.has_parent_path() ? target.parent_path().c_str() : ".", &status) != 0) return std::nullopt;
        for (const char c : target.filename().string())
            identity.missing_name_ += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    identity.device_ = status.st_dev;
    identity.inode_ = status.st_ino;
    return identity;
}

std::optional<FileIdentity> FileIdentity::of_descriptor(int descriptor) {
    struct stat status {};
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    FileIdentity identity;
    identity.device_ = status.st_dev;
    identity.inode_ = status.st_ino;
    return identity;
}

void publish_file(const fs::path& file, std::string_view bytes, const OutputFile& kind) {
    const std::error_code error = is_written_in_place(file) ? write_in_place(file, bytes) : write_beside(followed(file), bytes, kind);
    if (error)
        throw Error(ExitStatus::bad_input, fmt::format("{} can't be written: {}", kind.what, error.message()), file.string(),
                    remedy_of(error));
}

}  // namespace tmm
