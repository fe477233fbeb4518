// What the library has to say that is no error: one line at a time, to whoever listens.
#pragma once

#include <functional>
#include <string>

namespace tmm {

using LogSink = std::function<void(const std::string& line)>;

// Thread-safe. An empty sink is the default: "tmm: <line>" on stderr.
void set_log_sink(LogSink sink);
// Thread-safe; never throws. The line has no newline at its end.
void log_line(const std::string& line) noexcept;

}  // namespace tmm
