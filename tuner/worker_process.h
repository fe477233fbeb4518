// The parent's end of a worker: spawns it, asks, kills it when it passes a deadline, and replaces it when it has died.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <variant>

#include "tuner/interrupt.h"
#include "tuner/line_channel.h"
#include "tuner/protocol.h"
#include "tuner/worker_end.h"

namespace tmm {

class WorkerProcess {
public:
    // The process ended, or said something that makes no sense.
    struct Died {
        std::string how;
        // The process was ended by a signal that no code raises, and that was not ours: the candidate is not to blame.
        bool from_outside = false;
    };
    struct TimedOut {
        // Whether the turn's time was over, and not the deadline.
        bool turn_is_over = false;
    };
    struct Interrupted {};
    using Answer = std::variant<Reply, Died, TimedOut, Interrupted>;

    // Starts the worker of the device and waits for its greeting. Throws Error as the worker reports it (no such device, no
    // driver, no compiler). The thread that makes it must live as long as the worker.
    WorkerProcess(int ordinal, const Interrupt& interrupt);
    ~WorkerProcess();
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;

    const DeviceInfo& device() const { return device_; }
    // As it was when the worker started.
    const DeviceSharing& sharing() const { return sharing_; }
    // Whether the worker runs; after Died, TimedOut and Interrupted it does not.
    bool alive() const { return pid_ > 0; }
    // Seconds that its last start took.
    double start_seconds() const { return start_seconds_; }
    // Throws Error where no worker can be started any more.
    void respawn();

    // Sends the request and waits for its reply. The deadline counts the time that the worker had to work, the turn's seconds all time.
    // step is called for each RunOffStep. An interruption leaves the worker a moment to finish; then it is killed. Failed replies throw
    // Error.
    Answer ask(const Request& request, double deadline_seconds, double turn_seconds, const std::function<void(int)>& step = {});

private:
    void start();
    bool spawn(std::string& how);
    LineChannel::Read read_line(std::string& line, WorkingTime& time, double deadline_seconds, double turn_seconds, int wake_fd = -1);
    void kill_and_reap() noexcept;
    Died reap();

    int ordinal_;
    const Interrupt& interrupt_;
    DeviceInfo device_;
    DeviceSharing sharing_;
    pid_t pid_ = -1;
    double start_seconds_ = 0;
    LineChannel channel_;
};

}  // namespace tmm
