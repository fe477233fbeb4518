#include "tuner/worker/worker_connection.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <fstream>
#include <string>

namespace tmm {
namespace {

constexpr std::string_view kEndedBySignal = "was ended by signal ";
// Looks that come later than this show that this process did not run in between.
constexpr double kLatestLook = 5 * WorkingTime::kLook;

}  // namespace

bool is_raised_by_code(int signal) {
    switch (signal) {
        case SIGSEGV:
        case SIGBUS:
        case SIGFPE:
        case SIGILL:
        case SIGTRAP:
        case SIGABRT: return true;
        default: return false;
    }
}

bool names_outside_signal(std::string_view text) {
    const auto at = text.find(kEndedBySignal);
    if (at == std::string_view::npos) return false;
    const std::string_view number = text.substr(at + kEndedBySignal.size());
    int signal = 0;
    return std::from_chars(number.data(), number.data() + number.size(), signal).ec == std::errc() && !is_raised_by_code(signal);
}

bool is_stopped(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    std::getline(file, line);
    // The name in parentheses may hold anything; the state stands behind the last ')'.
    const auto name_end = line.rfind(')');
    return name_end != std::string::npos && line.size() > name_end + 2 && (line[name_end + 2] == 'T' || line[name_end + 2] == 't');
}

void WorkingTime::look() {
    const auto now = SteadyClock::now();
    const double passed = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    if (!is_stopped(process_)) working_ += std::min(passed, kLatestLook);
}

}  // namespace tmm
