// The process that owns a device: it verifies and times candidates that its parent names over a pipe, until the pipe closes.
#pragma once

#include <functional>
#include <memory>

#include "tuner/protocol.h"

namespace tmm {

// The work itself, apart from the pipe. Not thread-safe. Throws DeviceFault after which the process must end, and Error.
class Worker {
public:
    explicit Worker(int ordinal);
    ~Worker();

    const DeviceInfo& device() const;
    // Prepared or NotPrepared.
    Reply prepare(const PrepareRequest& request);
    // Measured or NotMeasured.
    Reply measure(const MeasureRequest& request);
    // RunOffDone or NotMeasured. step(index) is called each time before a config runs.
    Reply run_off(const RunOffRequest& request, const std::function<void(int)>& step);

private:
    RunOffDone try_run_off(const RunOffRequest& request, const std::function<void(int)>& step);

    struct State;
    std::unique_ptr<State> state_;
};

// Main function of `tmm-tune --worker ORDINAL`: requests on standard input, replies on standard output. Returns the exit status.
int serve_worker(int ordinal);

}  // namespace tmm
