#include "generator/compile/compile_attempts.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "base/error.h"

namespace tmm {
namespace {

constexpr int kAttempts = 3;
constexpr std::chrono::milliseconds kPause{300};

constexpr std::string_view kDigits = "0123456789";

// Takes a number and the character before it off the end: "file:12" becomes "file".
bool take_number(std::string_view& text, char before) {
    const auto last = text.find_last_not_of(kDigits);
    if (last == std::string_view::npos || last + 1 == text.size() || text[last] != before) return false;
    text.remove_suffix(text.size() - last);
    return true;
}

// g++ and clang write "file:12:7: error: …".
bool names_line_and_column(std::string_view line) {
    const auto error = line.find(": error: ");
    if (error == std::string_view::npos) return false;
    std::string_view place = line.substr(0, error);
    return take_number(place, ':') && take_number(place, ':') && !place.empty();
}

// NVRTC writes "file(12): error: …", "file(12): error #20013: …".
bool names_line(std::string_view line) {
    const auto error = line.find("): error");
    if (error == std::string_view::npos) return false;
    std::string_view place = line.substr(0, error);
    return take_number(place, '(') && !place.empty();
}

// The assembler of NVRTC has no places: it tells of kernels that ask for too much, or for what the architecture lacks.
bool is_the_assemblers(std::string_view line) {
    if (line.find("wgmma instructions was serialized") != std::string_view::npos) return true;
    if (!line.starts_with("ptxas error") && !line.starts_with("ptxas fatal")) return false;
    return line.find("emory allocation failure") == std::string_view::npos && line.find("out of memory") == std::string_view::npos;
}

constexpr std::string_view kCrash = "the compiler crashed again and again on this source: it ";
constexpr std::string_view kWrongCode = "the compiler's code for this source is wrong: ";

bool line_blames_source(std::string_view line) {
    return names_line_and_column(line) || names_line(line) || is_the_assemblers(line) || line.starts_with(kCrash) ||
           line.starts_with(kWrongCode);
}

// The result is empty where there is none; blank lines do not count.
template <typename Condition>
std::string_view first_line_where(std::string_view log, const Condition& holds) {
    while (!log.empty()) {
        const std::string_view line = log.substr(0, log.find('\n'));
        log.remove_prefix(std::min(line.size() + 1, log.size()));
        if (line.find_first_not_of(" \t\r") != std::string_view::npos && holds(line)) return line;
    }
    return {};
}

}  // namespace

bool blames_source(std::string_view log) {
    return !first_line_where(log, line_blames_source).empty();
}

std::string crash_log(std::string_view how) {
    return std::string(kCrash).append(how);
}

std::string wrong_code_log(std::string_view what) {
    return std::string(kWrongCode).append(what);
}

std::string first_error_line(std::string_view log) {
    std::string_view line = first_line_where(log, line_blames_source);
    if (line.empty()) line = first_line_where(log, [](std::string_view any) { return any.find("error") != std::string_view::npos; });
    if (line.empty()) line = first_line_where(log, [](std::string_view) { return true; });
    return line.empty() ? "the compiler gave no reason" : std::string(line.substr(0, 400));
}

CompileResult compile_patiently(const std::function<CompileResult()>& attempt) {
    static std::mutex one_at_a_time;
    for (int made = 1;; ++made) {
        try {
            std::optional<std::lock_guard<std::mutex>> alone;
            if (made > 1) alone.emplace(one_at_a_time);
            return attempt();
        } catch (const Error& error) {
            if (error.status() != ExitStatus::no_compiler || made == kAttempts) throw;
        }
        std::this_thread::sleep_for(made * kPause);
    }
}

}  // namespace tmm
