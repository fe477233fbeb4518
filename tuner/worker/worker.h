// The process that owns a device: it verifies and times candidates that its parent names over a pipe, until the pipe closes.
#pragma once

#include <functional>
#include <memory>

#include "tuner/worker/protocol.h"

namespace tmm {

// The worker does the work itself, apart from the pipe. It is not thread-safe. It throws DeviceFault, after which the process must end, and
// Error.
class Worker {
public:
    explicit Worker(int ordinal);
    ~Worker();

    const DeviceInfo& device() const;
    DeviceSharing sharing() const;
    // Replies with Prepared or NotPrepared.
    Reply prepare(const PrepareRequest& request);
    // Replies with Measured or NotMeasured.
    Reply measure(const MeasureRequest& request);
    // Replies with RatesMeasured or NotMeasured.
    Reply measure_rates();
    // Replies with RunOffDone or NotMeasured. step(index) is called each time before a config runs.
    Reply run_off(const RunOffRequest& request, const std::function<void(int)>& step);

private:
    Reply try_measure(const MeasureRequest& request);
    RunOffDone try_run_off(const RunOffRequest& request, const std::function<void(int)>& step);

    struct State;
    std::unique_ptr<State> state_;
};

// Main function of `tmm-tune --worker ORDINAL`: requests on standard input, replies on standard output. Returns the exit status.
int serve_worker(int ordinal);

}  // namespace tmm
