#include "generator/compile/compile_lock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string_view>
#include <thread>
#include <utility>

#include "base/files/private_files.h"

namespace tmm {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{2};
constexpr milliseconds kLongestPause{50};
// Whoever tidies the directory may remove a new file before it is locked; then the next one is made.
constexpr int kAttempts = 100;
constexpr off_t kLargestLock = 16;
// It stands in a lock in place of the first digit of its holder's number.
constexpr char kGaveUp = '-';

bool same_file(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// What tmm did not make it does not write to. A lock may have lost its name, and holds a process's number at most.
bool looks_like_lock(const struct stat& status) {
    return S_ISREG(status.st_mode) && status.st_nlink <= 1 && status.st_size <= kLargestLock;
}

// The state is 'T' or 't' for a process that a signal or a debugger has stopped; it follows the last parenthesis of the name.
bool is_stopped(int process) {
    std::ifstream file(fmt::format("/proc/{}/stat", process), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto end = text.rfind(')');
    if (end == std::string::npos || end + 2 >= text.size()) return false;
    return text[end + 2] == 'T' || text[end + 2] == 't';
}

}  // namespace

CompileLock::CompileLock(int directory, std::string name, milliseconds patience, const std::function<bool()>& is_done)
    : directory_(directory), name_(std::move(name)) {
    auto deadline = Clock::now() + patience;
    milliseconds pause = kFirstPause;
    bool waited = false;
    while (true) {
        const struct stat before = opened_;
        const Lock lock = try_once();
        // What another process was about to store may be there now.
        if (lock == Lock::unknown_here || is_done()) return;
        if (lock == Lock::taken) {
            if (holder_gave_up()) give_back();
            return;
        }
        if (waited && !same_file(before, opened_)) deadline = Clock::now() + patience;
        if (Clock::now() >= deadline || holder_is_stopped()) {
            remove(opened_);
            deadline = Clock::now() + patience;
            pause = kFirstPause;
        }
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, kLongestPause);
        waited = true;
    }
}

CompileLock::~CompileLock() {
    give_back();
}

void CompileLock::give_up() {
    if (file_) (void)pwrite(file_.get(), &kGaveUp, 1, 0);
}

void CompileLock::give_back() {
    if (file_) remove(opened_);
    file_ = FileDescriptor();
}

Lock CompileLock::try_once() {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        FileDescriptor file(openat(directory_, name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
        if (!file || fstat(file.get(), &opened_) != 0 || !looks_like_lock(opened_)) return Lock::unknown_here;
        const Lock lock = try_lock(file);
        if (lock == Lock::held_by_another) {
            seen_ = std::move(file);
            return lock;
        }
        if (lock != Lock::taken) return lock;
        if (fstat(file.get(), &opened_) != 0 || opened_.st_nlink == 0) continue;
        // A umask may have taken this user's own rights, and others must be able to open it.
        fchmod(file.get(), 0600);
        const std::string holder = fmt::format("{}\n", getpid());
        // Without it nobody can tell that this process is stopped.
        if (ftruncate(file.get(), 0) == 0) (void)write_all(file.get(), holder);
        file_ = std::move(file);
        return Lock::taken;
    }
    return Lock::unknown_here;
}

bool CompileLock::holder_is_stopped() const {
    const FileDescriptor file(openat(directory_, name_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    char text[16];
    const ssize_t size = file ? read(file.get(), text, sizeof text) : 0;
    int process = 0;
    return size > 0 && std::from_chars(text, text + size, process).ec == std::errc() && is_stopped(process);
}

bool CompileLock::holder_gave_up() const {
    char first = 0;
    return seen_ && pread(seen_.get(), &first, 1, 0) == 1 && first == kGaveUp;
}

void CompileLock::remove(const struct stat& file) const {
    struct stat named;
    if (fstatat(directory_, name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 && same_file(named, file))
        unlinkat(directory_, name_.c_str(), 0);
}

}  // namespace tmm
