#include "runtime/dropin/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <initializer_list>

#include "runtime/dropin/process.h"

namespace tmm::dropin {

namespace {

struct OpenFile {
    bool is_open = false;
    dev_t device = 0;
    ino_t inode = 0;

    friend bool operator==(const OpenFile&, const OpenFile&) = default;
};

OpenFile file_behind(int descriptor) noexcept {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return {};
    return {.is_open = true, .device = status.st_dev, .inode = status.st_ino};
}

// What stderr was when the library was loaded.
const OpenFile& first_stderr() noexcept {
    static const OpenFile file = file_behind(STDERR_FILENO);
    return file;
}

// A program may close a descriptor and be given its number for a file of its own.
void write_to_stderr(const std::string& text) noexcept {
    if (first_stderr().is_open && file_behind(STDERR_FILENO) == first_stderr()) write_all(STDERR_FILENO, text.data(), text.size());
}

void write_line(const std::string& text) noexcept {
    const std::string& file = settings().log_file;
    if (file.empty()) return write_to_stderr(text);
    // It is opened for each line, so that no descriptor is kept.
    const int opened = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    if (opened < 0) {
        static ProcessFlag said;
        if (said.raise())
            write_to_stderr("tmm: TMM_LOG's file " + file + " can't be opened (" + std::strerror(errno) +
                            "): its lines go to standard error\n");
        return write_to_stderr(text);
    }
    write_all(opened, text.data(), text.size());
    close(opened);
}

}  // namespace

void begin_log() noexcept {
    first_stderr();
}

void complain_once() noexcept {
    static ProcessFlag said;
    if (!settings().complaint.empty() && said.raise()) log(LogLevel::error, settings().complaint);
}

void log(LogLevel level, const std::string& line) noexcept {
    if (!logs(level)) return;
    const QuietWrites quiet;
    try {
        // One write a line, so that lines of several threads and processes stay whole.
        write_line("tmm: " + line + "\n");
    } catch (...) {
        // There is too little memory for a line that nobody waits for.
    }
}

QuietWrites::QuietWrites(Holding holding) noexcept {
    sigset_t held;
    sigset_t pending;
    sigpending(&pending);
    sigemptyset(&raised_by_writing_);
    for (const int signal : {SIGPIPE, SIGXFSZ})
        if (!sigismember(&pending, signal)) sigaddset(&raised_by_writing_, signal);
    if (holding == Holding::all_signals) {
        sigfillset(&held);
    } else {
        sigemptyset(&held);
        for (const int signal : {SIGPIPE, SIGXFSZ, SIGTTOU}) sigaddset(&held, signal);
    }
    pthread_sigmask(SIG_BLOCK, &held, &mask_before_);
}

QuietWrites::~QuietWrites() {
    const int errno_before = errno;
    const timespec now{};
    while (sigtimedwait(&raised_by_writing_, nullptr, &now) > 0) continue;
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    errno = errno_before;
}

bool write_all(int descriptor, const char* text, std::size_t size) noexcept {
    while (size > 0) {
        const ssize_t count = write(descriptor, text, size);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        text += count;
        size -= static_cast<std::size_t>(count);
    }
    return true;
}

}  // namespace tmm::dropin
