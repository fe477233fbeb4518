// Tells from the end of a worker whether its own code may be to blame, and how long it had to work.
#pragma once

#include <sys/types.h>

#include <string_view>

#include "base/processes/elapsed.h"

namespace tmm {

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
