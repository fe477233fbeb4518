// The process's one log sink. The C interface's log callback is process-wide, so this is too.
#include "base/log.h"

#include <cstdio>
#include <mutex>
#include <utility>

#include "base/text/printable.h"

namespace tmm {
namespace {

struct Log {
    std::mutex mutex;
    LogSink sink;
};

// The log is never destroyed: threads may still log while the process exits.
Log& process_log() {
    static Log* log = new Log;
    return *log;
}

}  // namespace

void set_log_sink(LogSink sink) {
    const std::lock_guard lock(process_log().mutex);
    process_log().sink = std::move(sink);
}

void log_line(const std::string& text) noexcept {
    try {
        // File names and other people's messages stand in it.
        const std::string line = printable(text);
        LogSink sink;
        {
            const std::lock_guard lock(process_log().mutex);
            sink = process_log().sink;
        }
        if (sink) {
            sink(line);
        } else {
            std::fprintf(stderr, "tmm: %s\n", line.c_str());
        }
    } catch (...) {
        // A listener's failure is not the library's.
    }
}

}  // namespace tmm
