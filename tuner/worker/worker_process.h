// The parent's end of a worker: spawns it, asks, kills it when it passes a deadline, and replaces it when it has died.
#pragma once

#include <functional>
#include <string>

#include "base/processes/helper_process.h"
#include "base/processes/interrupt.h"
#include "base/processes/line_pipe.h"
#include "tuner/worker/worker_connection.h"

namespace tmm {

class WorkerProcess final : public WorkerConnection {
public:
    // Starts the worker of the device and waits for its greeting. Throws Error as the worker reports it (no such device, no
    // driver, no compiler). The thread that makes it must live as long as the worker.
    WorkerProcess(int ordinal, const Interrupt& interrupt);

    const DeviceInfo& device() const override { return device_; }
    // As it was when the worker started.
    const DeviceSharing& sharing() const { return sharing_; }
    bool alive() const override { return process_.alive(); }
    double start_seconds() const override { return start_seconds_; }
    // Seconds from requests to their answers, all together.
    double busy_seconds() const { return busy_seconds_; }
    void respawn() override;
    Answer ask(const Request& request, double deadline_seconds, double turn_seconds, const std::function<void(int)>& step = {}) override;

private:
    void start();
    bool spawn(std::string& how);
    LinePipe::Read read_line(std::string& line, WorkingTime& time, double deadline_seconds, double turn_seconds, int wake_fd = -1);
    Answer wait_for_answer(double deadline_seconds, double turn_seconds, const std::function<void(int)>& step);
    Died reap();

    int ordinal_;
    const Interrupt& interrupt_;
    DeviceInfo device_;
    DeviceSharing sharing_;
    double start_seconds_ = 0;
    double busy_seconds_ = 0;
    HelperProcess process_;
};

}  // namespace tmm
