// Ctrl-C and SIGTERM as something that can be waited for. The second one ends the process at once.
#pragma once

#include <atomic>
#include <thread>

namespace tmm {

// The object is made in main() before any other thread, since it blocks both signals for the thread that makes it and those made later.
class Interrupt {
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    bool requested() const { return requested_; }
    // The descriptor is readable from the moment on that an interruption was requested.
    int fd() const { return event_fd_; }

private:
    std::atomic<bool> requested_ = false;
    int event_fd_ = -1;
    int signal_fd_ = -1;
    int stop_fd_ = -1;
    std::thread thread_;
};

}  // namespace tmm
