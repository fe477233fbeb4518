// What a stream is doing, as far as a call that is to be queued on it must know.
#pragma once

#include <cstdint>

namespace tmm::dropin {

struct StreamState {
    enum class Kind {
        executing,
        capturing,
        unknown,  // nothing may be done then that a capture forbids
    };
    Kind kind = Kind::unknown;
    // A number that no other stream has or had, where the driver gives such; else, and in a capture, its address.
    std::uint64_t id = 0;
    // The capture's number and graph.
    std::uint64_t capture = 0;
    void* graph = nullptr;
};

// Asks the driver. Never throws.
StreamState state_of_stream(void* stream) noexcept;

}  // namespace tmm::dropin
