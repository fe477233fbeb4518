// The file of a record, which processes share: each adds what it has called, under a lock, and what the file held stays in it.
#pragma once

#include <memory_resource>
#include <string>

#include "runtime/dropin/record/call_counts.h"

namespace tmm::dropin {

class RecordFile {
public:
    // path: absolute; each %p in it stands for the number of the process that writes.
    explicit RecordFile(std::string path) : path_(std::move(path)) {}

    // Why nothing could be written now, a sentence that names the file; empty where it could. Makes no file.
    std::string complaint() const;
    // Adds what is pending; what can't be written stays pending. Waits for others for two seconds at most. False, with errno set, where it
    // can't. One thread at a time. Safe in handlers of signals.
    bool add(CallCounts& counts) const noexcept;

private:
    std::pmr::string expanded(std::pmr::memory_resource& memory) const;

    const std::string path_;
};

}  // namespace tmm::dropin
