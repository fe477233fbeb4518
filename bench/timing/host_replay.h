// Work on the CPU, timed by the host's clock.
#pragma once

#include <chrono>
#include <functional>

#include "runtime/device/device.h"

namespace tmm::bench {

class HostReplay final : public Replay {
public:
    // work returns when it is done.
    explicit HostReplay(std::function<void()> work) : work_(std::move(work)) {}
    double run_timed() override {
        const auto start = std::chrono::steady_clock::now();
        work_();
        return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    }

private:
    std::function<void()> work_;
};

}  // namespace tmm::bench
