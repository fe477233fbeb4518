// The drop-in libraries' log: lines on stderr, or appended to TMM_LOG's file.
#pragma once

#include <csignal>
#include <cstddef>
#include <string>

#include "runtime/dropin/settings.h"

namespace tmm::dropin {

inline bool logs(LogLevel level) {
    return level <= settings().log;
}
// Takes note of what stderr is. While the library is loaded.
void begin_log() noexcept;
// Says what of the settings was not understood or has no effect, once a process.
void complain_once() noexcept;
// Writes "tmm: line" where the level is logged. Thread-safe.
void log(LogLevel level, const std::string& line) noexcept;

// Writing for tmm in a process that is the program's.

// In this scope what the thread writes raises no signal that the program would have to answer for: its reader may be gone, its file too
// large, its terminal another's. Safe in handlers of signals.
class QuietWrites {
public:
    // all_signals: no handler of the program runs in the middle.
    enum class Holding { signals_of_writing, all_signals };

    explicit QuietWrites(Holding holding = Holding::signals_of_writing) noexcept;
    QuietWrites(const QuietWrites&) = delete;
    QuietWrites& operator=(const QuietWrites&) = delete;
    ~QuietWrites();

private:
    sigset_t mask_before_;
    sigset_t raised_by_writing_;
};

// False where not all of it could be written. Safe in handlers of signals.
bool write_all(int descriptor, const char* text, std::size_t size) noexcept;

}  // namespace tmm::dropin
