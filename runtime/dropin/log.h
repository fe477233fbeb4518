// The drop-in libraries' log: lines on stderr, or appended to TMM_LOG's file.
#pragma once

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

}  // namespace tmm::dropin
