// What the tuner asks of the worker that owns a device, and what the end of a worker says of the candidate that ran.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "base/processes/elapsed.h"
#include "tuner/worker/protocol.h"

namespace tmm {

class WorkerConnection {
public:
    // The worker ended, or said something that makes no sense.
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
    // The request did not run: the worker that had prepared for it has ended since, by what another search asked for.
    struct Lost {};
    using Answer = std::variant<Reply, Died, TimedOut, Interrupted, Lost>;

    virtual ~WorkerConnection() = default;

    virtual const DeviceInfo& device() const = 0;
    // Whether the worker runs, and knows what this search has prepared; after Died, TimedOut and Lost it does not.
    virtual bool alive() const = 0;
    // Seconds that its last start took.
    virtual double start_seconds() const = 0;
    // Seconds of this problem's that are other searches': in which it worked for them, and their parts of those in which it waited for all.
    virtual double seconds_for_others() const { return 0; }
    // Throws Error where no worker can be started any more.
    virtual void respawn() = 0;
    // Sends the request and waits for its reply. The deadline counts the time that the worker had to work, the turn's seconds all time.
    // step is called for each RunOffStep. An interruption leaves the worker a moment to finish; then it is killed. Failed replies throw
    // Error.
    virtual Answer ask(const Request& request, double deadline_seconds, double turn_seconds, const std::function<void(int)>& step = {}) = 0;
};

// Whether code raises the signal by what it does: an access that is not allowed, an impossible instruction, abort(). All others come from
// outside: from a user, a terminal that goes away, a limit, a machine that is short of memory.
bool is_raised_by_code(int signal);
// Whether the text, which tells how a worker ended, names a signal from outside.
bool names_outside_signal(std::string_view text);

// Whether the process is stopped now, by Ctrl-Z or a debugger.
bool is_stopped(pid_t process);

// The time that a process had to work: while it or this process was stopped, or the machine slept, it had none.
class WorkingTime {
public:
    explicit WorkingTime(pid_t process) : process_(process) {}

    // The function must be called every kLook seconds or more often.
    void look();
    double working() const { return working_; }
    // All time since the start by the wall clock.
    double all() const { return seconds_since(start_); }

    static constexpr double kLook = 0.1;

private:
    pid_t process_;
    SteadyClock::time_point start_ = SteadyClock::now();
    SteadyClock::time_point last_ = start_;
    double working_ = 0;
};

}  // namespace tmm
