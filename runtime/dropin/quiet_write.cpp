#include "runtime/dropin/quiet_write.h"

#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <initializer_list>

namespace tmm::dropin {

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
