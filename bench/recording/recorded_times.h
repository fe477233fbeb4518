// A file of the times of many configs of many problems on one device, by which searches are judged without it.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "db/store/measurement.h"
#include "generator/machine/device_info.h"

namespace tmm::bench {

struct RecordedTime {
    // What the config came to when it was measured by itself, and its time in microseconds; 0 where it has none.
    Outcome outcome = Outcome::ok;
    double alone_us = 0;
    // Its time beside the fastest others; 0 where it was not among them.
    double run_off_us = 0;
};

struct RecordedProblem {
    std::string shape;
    // By fields_text().
    std::map<std::string, RecordedTime> times = {};
    // Whether all that was to be measured was.
    bool complete = false;
};

struct RecordedTimes {
    DeviceInfo device;
    // By to_text().
    std::map<std::string, RecordedProblem> problems = {};
};

// The lines of such a file, without their ends: the device; a config's outcome; a config's time in a run-off; the last of a problem.
std::string device_line(const DeviceInfo& device);
std::string outcome_line(std::string_view shape, const KernelConfig& config, Outcome outcome, double microseconds);
std::string run_off_line(std::string_view shape, const KernelConfig& config, double microseconds);
std::string complete_line(std::string_view shape);

// Reads such lines; a last one without an end was not written whole and is left out. name: the file's, for errors. Throws Error
// (bad_input).
RecordedTimes parse_recorded_times(std::string_view text, const std::string& name);

// The file that a recording grows by a line for each time that is measured.

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

}  // namespace tmm::bench
