// How long the work takes that a call queues on a stream.
#pragma once

#include <chrono>
#include <optional>

namespace tmm::dropin {

// Where products run within the call, its clock is the host's; on a GPU, events on the stream.
class CallTimer {
public:
    // Takes the time from now on, but not of a stream that is being captured.
    CallTimer(void* stream, bool runs_at_once) noexcept;
    CallTimer(const CallTimer&) = delete;
    CallTimer& operator=(const CallTimer&) = delete;
    ~CallTimer();

    // Waits for the work that was queued. Nothing where no time was taken.
    std::optional<double> seconds() noexcept;

private:
    const bool runs_at_once_;
    std::chrono::steady_clock::time_point began_;
    void* const stream_;
    void* first_ = nullptr;
    void* last_ = nullptr;
};

}  // namespace tmm::dropin
