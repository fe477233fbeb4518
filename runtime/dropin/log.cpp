#include "runtime/dropin/log.h"

#include <fcntl.h>
#include <unistd.h>

namespace tmm::dropin {
namespace {

int log_descriptor() {
    static const int descriptor = [] {
        const std::string& file = settings().log_file;
        if (file.empty()) return STDERR_FILENO;
        const int opened = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        return opened >= 0 ? opened : STDERR_FILENO;
    }();
    return descriptor;
}

}  // namespace

void log(LogLevel level, const std::string& line) noexcept {
    if (!logs(level)) return;
    try {
        // One write a line, so that lines of several threads and processes stay whole.
        const std::string text = "tmm: " + line + "\n";
        (void)!write(log_descriptor(), text.data(), text.size());
    } catch (...) {
        // There is too little memory for a line that nobody waits for.
    }
}

}  // namespace tmm::dropin
