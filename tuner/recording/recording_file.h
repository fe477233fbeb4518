// The file that a recording grows by a line for each time that is measured.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "tuner/recording/recorded_times.h"

namespace tmm {

// add() is thread-safe.
class RecordingFile {
public:
    // Opens or makes the file, and cuts off a last line that was not written whole. Throws Error: it can't be read or written, or it
    // holds times of another device.
    RecordingFile(const std::filesystem::path& file, const DeviceInfo& device);

    // What the file held when it was opened.
    const RecordedTimes& before() const { return before_; }
    // Writes a line, which is in the file once this returns. Throws Error.
    void add(const std::string& line);

private:
    struct Close {
        void operator()(std::FILE* stream) const { std::fclose(stream); }
    };
    std::filesystem::path file_;
    RecordedTimes before_;
    std::mutex mutex_;
    std::unique_ptr<std::FILE, Close> stream_;
};

}  // namespace tmm
