#include "base/files/file_size_signal.h"

#include <time.h>

#include <cerrno>

namespace tmm {
namespace {

sigset_t only_this() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    return set;
}

bool is_pending() {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

}  // namespace

FileSizeSignalHeld::FileSizeSignalHeld() {
    const sigset_t set = only_this();
    was_pending_ = is_pending();
    pthread_sigmask(SIG_BLOCK, &set, &mask_before_);
}

FileSizeSignalHeld::~FileSizeSignalHeld() {
    const int error = errno;
    const sigset_t set = only_this();
    const timespec at_once{};
    // A signal that came while it was held is answered by the write that failed.
    if (!was_pending_ && is_pending()) sigtimedwait(&set, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    errno = error;
}

}  // namespace tmm
