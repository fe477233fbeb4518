#include "runtime/dropin/settings.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/text/byte_count.h"
#include "tmm/tmm.h"

namespace tmm::dropin {
namespace {

void complain(Settings& settings, std::string_view sentence) {
    settings.complaint.append(settings.complaint.empty() ? "" : "; ").append(sentence);
}

void complain(Settings& settings, std::string_view variable, std::string_view value, std::string_view choices) {
    complain(settings, std::string(variable).append("=").append(value).append(" is not understood: it is ").append(choices));
}

void read_mode(Settings& settings, std::string_view text) {
    if (text == "off")
        settings.mode = Mode::off;
    else if (text == "record")
        settings.mode = Mode::record;
    else if (text == "tune")
        settings.mode = Mode::tune;
    else if (text != "use")
        complain(settings, "TMM_MODE", text, "off, use, record or tune");
}

void read_device(Settings& settings, std::string_view text) {
    if (text == "host") {
        settings.device = TMM_DEVICE_HOST;
        settings.device_is_named = true;
        return;
    }
    int number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    settings.device_is_named = error == std::errc() && end == text.data() + text.size() && number >= 0;
    if (settings.device_is_named)
        settings.device = number;
    else
        complain(settings, "TMM_DEVICE", text, "a GPU's number, or host");
}

void read_workspace_limit(Settings& settings, std::string_view text) {
    settings.workspace_limit = parse_bytes(text);
    if (!settings.workspace_limit) complain(settings, "TMM_WORKSPACE_LIMIT", text, "a number of bytes such as 0, 67108864, 64MiB or 2GiB");
}

void read_settled(Settings& settings, std::string_view text) {
    if (text == "1" || text == "0")
        settings.settled = text == "1";
    else
        complain(settings, "TMM_SETTLED", text, "1 or 0");
}

void read_log(Settings& settings, std::string_view text) {
    const auto colon = text.find(':');
    const std::string_view level = text.substr(0, colon);
    constexpr std::string_view kLevels[] = {"error", "warn", "info", "debug"};
    bool known = false;
    for (int i = 0; i < 4; ++i) {
        if (level != kLevels[i]) continue;
        settings.log = static_cast<LogLevel>(i);
        known = true;
    }
    if (!known) complain(settings, "TMM_LOG", text, "error, warn, info or debug, and :FILE behind it");
    if (colon != std::string_view::npos) settings.log_file = text.substr(colon + 1);
    if (colon != std::string_view::npos && settings.log_file.empty())
        complain(settings, std::string("TMM_LOG=").append(text).append(" names no file behind its colon"));
    // The name stands for a descriptor's number, which may become another file's.
    if (settings.log_file == "/dev/stderr") settings.log_file.clear();
}

// The program may change its directory later.
std::string absolute(const std::string& path) {
    char here[PATH_MAX];
    if (path.empty() || path.front() == '/' || !getcwd(here, sizeof here)) return path;
    return std::string(here) + "/" + path;
}

// What replaces a file leaves a symbolic link to it in its place.
std::string resolved(const std::string& path) {
    char target[PATH_MAX];
    return !path.empty() && realpath(path.c_str(), target) ? target : absolute(path);
}

}  // namespace

Settings parse_settings(const char* mode, const char* device, const char* record, const char* log, const char* workspace_limit,
                        const char* settled) {
    Settings settings;
    if (mode && *mode) read_mode(settings, mode);
    if (device && *device) read_device(settings, device);
    if (log && *log) read_log(settings, log);
    if (workspace_limit && *workspace_limit) read_workspace_limit(settings, workspace_limit);
    if (settled && *settled) read_settled(settings, settled);
    if (record) settings.record = record;
    // Who chose another mode may have left the file's name for another time.
    if (!settings.record.empty() && !(mode && *mode)) complain(settings, "TMM_RECORD has no effect without TMM_MODE=record");
    // Nothing is said where nothing is asked for.
    if (settings.mode == Mode::off) settings.complaint.clear();
    if (settings.mode == Mode::record && settings.record.empty()) {
        complain(settings, "TMM_MODE=record needs TMM_RECORD, a file");
        settings.mode = Mode::off;
    }
    return settings;
}

const Settings& settings() {
    // Never destroyed: handlers of exit() may multiply.
    static const auto* const read = [] {
        if (getauxval(AT_SECURE) != 0) return new Settings{.mode = Mode::off, .record = {}, .log_file = {}, .complaint = {}};
        auto* const made =
            new Settings(parse_settings(std::getenv("TMM_MODE"), std::getenv("TMM_DEVICE"), std::getenv("TMM_RECORD"),
                                        std::getenv("TMM_LOG"), std::getenv("TMM_WORKSPACE_LIMIT"), std::getenv("TMM_SETTLED")));
        tmmGemmProblem_t problem;
        tmmGemmProblemInit(&problem);
        made->invariant = problem.invariant != 0;
        made->log_file = absolute(made->log_file);
        made->record = resolved(made->record);
        return made;
    }();
    return *read;
}

bool is_tf32_forbidden() {
    static const bool forbidden = [] {
        const char* const value = std::getenv("NVIDIA_TF32_OVERRIDE");
        return value && std::string_view(value) == "0";
    }();
    return forbidden;
}

}  // namespace tmm::dropin
