#include "base/processes/interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/text/side_by_side.h"

namespace tmm {

Interrupt::Interrupt() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    // The terminal went away; under nohup that is to be ignored, but a signal that is waited for never is.
    struct sigaction hangup {};
    if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    event_fd_ = eventfd(0, EFD_CLOEXEC);
    stop_fd_ = eventfd(0, EFD_CLOEXEC);
    signal_fd_ = signalfd(-1, &signals, SFD_CLOEXEC);
    if (event_fd_ < 0 || stop_fd_ < 0 || signal_fd_ < 0)
        throw Error(ExitStatus::usage, std::string("cannot watch for signals: ") + std::strerror(errno));
    auto thread = start_thread([this] {
        while (true) {
            pollfd fds[2] = {{signal_fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}};
            if (poll(fds, 2, -1) < 0) continue;
            if (fds[1].revents != 0) return;
            signalfd_siginfo info;
            if (read(signal_fd_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) continue;
            // The workers die with their parent, and what was recorded is committed.
            if (requested_.exchange(true)) _exit(static_cast<int>(ExitStatus::interrupted));
            const std::uint64_t one = 1;
            if (write(event_fd_, &one, sizeof one) < 0) continue;
        }
    });
    if (!thread)
        throw Error(ExitStatus::usage, "cannot watch for signals: no thread can be started", {},
                    "let this user have more processes (ulimit -u), or end some of them");
    thread_ = std::move(*thread);
}

Interrupt::~Interrupt() {
    const std::uint64_t one = 1;
    if (write(stop_fd_, &one, sizeof one) > 0)
        thread_.join();
    else
        thread_.detach();
    close(signal_fd_);
    close(stop_fd_);
    close(event_fd_);
}

}  // namespace tmm
