// What the tuner asks of the worker that owns a device.
#pragma once

#include <functional>
#include <string>
#include <variant>

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

}  // namespace tmm
