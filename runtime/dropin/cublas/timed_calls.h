// The time of single calls of a program, by events on their stream that nobody waits for.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <vector>

namespace tmm::dropin {

struct RacedShape;

// A call whose time is taken for a shape's race.
struct TimedCall {
    RacedShape* shape = nullptr;
    int side = 0;
    void* stream = nullptr;
    // Events on a GPU; null where products run within the call.
    void* first = nullptr;
    void* last = nullptr;
    std::chrono::steady_clock::time_point began = {};
    double host_us = 0;
};

// Who multiplies a call.
struct Turn {
    // tmm has queued it.
    bool is_tmms = false;
    // The library's call is timed: note_turn() follows it.
    TimedCall* timed = nullptr;
};

// Events that are used again, of one context. Thread-safe.
class EventPool {
public:
    // Null where the driver gives none.
    void* take() noexcept;
    void give_back(void* event) noexcept;

private:
    std::mutex mutex_;
    std::vector<void*> free_;
};

// The time from now on; null where it can't be taken. The stream is not captured. pool: null where products run within the call.
TimedCall* begin_timed(RacedShape& shape, int side, void* stream, EventPool* pool) noexcept;
// The end of what is timed. False where it can't be taken.
bool stop_timed(TimedCall& call, EventPool* pool) noexcept;
// Microseconds, once the work is done; negative where that can't be told. Nothing before.
std::optional<double> time_of(const TimedCall& call) noexcept;
// Gives back its events.
void discard(TimedCall* call, EventPool* pool) noexcept;

}  // namespace tmm::dropin
