// Processes that need the same kernel at once take turns: the first compiles it, the others wait for what it stores.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <string>

#include "base/files/locked_temporary.h"

namespace tmm {

class CompileLock {
public:
    // Takes the lock, a file of this name in the directory. While somebody else holds it, waits until it is free, until is_done() says that
    // what the holder makes is there, or until patience with this holder ends. A lock that was waited for in vain, and one whose holder is
    // stopped, is broken: its file goes. Where files can't be made or locked there is nothing to wait for.
    CompileLock(int directory, std::string name, std::chrono::milliseconds patience, const std::function<bool()>& is_done);
    // Gives the lock back, if it is held.
    ~CompileLock();
    // Tells those that wait that what they wait for will not be there, so that each of them makes its own instead of waiting for the next.
    void give_up();
    CompileLock(const CompileLock&) = delete;
    CompileLock& operator=(const CompileLock&) = delete;

private:
    // Leaves in opened_ which file it found, and keeps it in seen_ while another holds it.
    Lock try_once();
    void give_back();
    bool holder_is_stopped() const;
    bool holder_gave_up() const;
    // Removes the lock unless another file has taken its name.
    void remove(const struct stat& file) const;

    int directory_;
    std::string name_;
    FileDescriptor file_;
    // The file that another held when it was last tried. What its holder wrote can be read here when the file has lost its name.
    FileDescriptor seen_;
    struct stat opened_ {};
};

}  // namespace tmm
