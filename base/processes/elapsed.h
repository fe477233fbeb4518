// Seconds on a clock that nobody sets.
#pragma once

#include <chrono>

namespace tmm {

using SteadyClock = std::chrono::steady_clock;

inline double seconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

}  // namespace tmm
