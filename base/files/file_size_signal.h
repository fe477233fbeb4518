// Where a file reaches the size that the process may write (ulimit -f), the system sends a signal that ends the process. Held back for a
// while, writing fails instead, and whoever writes can say so.
#pragma once

#include <signal.h>

namespace tmm {

// The signal is held back for the calling thread; what its process does with the signal stays as it is.
class FileSizeSignalHeld {
public:
    FileSizeSignalHeld();
    ~FileSizeSignalHeld();
    FileSizeSignalHeld(const FileSizeSignalHeld&) = delete;
    FileSizeSignalHeld& operator=(const FileSizeSignalHeld&) = delete;

private:
    sigset_t mask_before_;
    bool was_pending_ = false;
};

}  // namespace tmm
