// This program, started once more in a hidden mode: a process that serves the one that started it over a pair of pipes.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/processes/line_pipe.h"

namespace tmm {

class HelperProcess {
public:
    // How a process ended.
    struct End {
        std::string how;
        // The signal that ended it, or 0.
        int signal = 0;
    };

    // No process runs until one is started.
    HelperProcess() = default;
    // Ends it gently: it leaves once its pipe closes, and is killed where it does not.
    ~HelperProcess();
    HelperProcess(const HelperProcess&) = delete;
    HelperProcess& operator=(const HelperProcess&) = delete;

    // program: the file that is run. Signals that end a run do not reach the process: its parent handles them and lets it finish. Throws
    // std::system_error.
    void start(const std::vector<std::string>& arguments, const std::string& program = "/proc/self/exe");
    bool alive() const { return pid_ > 0; }
    pid_t pid() const { return pid_; }
    LinePipe& channel() { return channel_; }
    // Ends the process, which is still to be reaped; one that was reaped is left alone.
    void signal_kill() const noexcept;
    void kill_and_reap() noexcept;
    // The process has closed its pipe, so it is about to end; one that lives on is killed.
    End reap();

private:
    pid_t pid_ = -1;
    LinePipe channel_;
};

// The other end, in a process that serves: whatever a library prints does not end up between two messages.
LinePipe channel_to_parent();
// Has this process killed with the thread that started it, whatever it does then.
void end_with_starting_thread();
// Ends this process once its parent has gone or has closed the pipe that is read here.
void end_with_pipe(int read_fd);

}  // namespace tmm
