// TMM_MODE=record: the products of this process, added to the file that TMM_RECORD names.
#pragma once

#include <optional>
#include <string>

namespace tmm::dropin {

// While the library is loaded, in this mode: where the program is now is what a relative path starts from, and a file that can't be
// written is said now.
void begin_recording() noexcept;

// shape: a line of a shapes file. seconds: what the call took, where somebody waited for its end. Throws std::bad_alloc.
void record(const std::string& shape, std::optional<double> seconds);

// Calls of the shape so far, the parent's included where the process was forked.
long recorded_calls(const std::string& shape) noexcept;

// Before the process ends without the handlers of exit(). Safe in handlers of signals.
void write_record_now() noexcept;

}  // namespace tmm::dropin
