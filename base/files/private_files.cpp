#include "base/files/private_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/files/file_size_signal.h"
#include "base/files/locked_temporary.h"

namespace tmm {
namespace {

namespace fs = std::filesystem;

std::error_code last_error() {
    return {errno, std::generic_category()};
}

// A umask may have taken this user's own rights.
std::error_code make_one(const fs::path& directory) {
    if (mkdir(directory.c_str(), 0700) == 0) return chmod(directory.c_str(), 0700) == 0 ? std::error_code() : last_error();
    return errno == EEXIST ? std::error_code() : last_error();
}

// The result is none, with errno, where there is a file of this name.
FileDescriptor made_file(const fs::path& path) {
    FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file) fchmod(file.get(), 0600);
    return file;
}

}  // namespace

std::error_code make_private_directories(const fs::path& path) {
    std::error_code error;
    // Each step's own reason is what a person can act on.
    if (path.empty() || fs::is_directory(path, error)) return {};
    if (path.has_parent_path() && path.parent_path() != path)
        if (const std::error_code above = make_private_directories(path.parent_path())) return above;
    return make_one(path);
}

std::error_code make_private_file(const fs::path& path) {
    const FileDescriptor file = made_file(path);
    return file || errno == EEXIST ? std::error_code() : last_error();
}

std::error_code write_private_file(const fs::path& path, std::string_view text) {
    FileDescriptor file = made_file(path);
    if (!file && errno == EEXIST) file = FileDescriptor(open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    if (!file || !write_all(file.get(), text)) return last_error();
    return file.close() ? std::error_code() : last_error();
}

bool write_all(int descriptor, std::string_view content) {
    const FileSizeSignalHeld held;
    while (!content.empty()) {
        const ssize_t count = write(descriptor, content.data(), content.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        content.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

}  // namespace tmm
