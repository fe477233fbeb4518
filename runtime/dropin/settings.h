// What the environment says to the libraries that stand in for others (docs/dropin.md). They read it here alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tmm::dropin {

// record writes down what is called and serves nothing; tune serves, and has what is called tuned beside the program.
enum class Mode { off, use, record, tune };
enum class LogLevel { error, warn, info, debug };

struct Settings {
    Mode mode = Mode::use;
    // A CUDA ordinal, or TMM_DEVICE_HOST.
    int device = 0;
    // The device was named.
    bool device_is_named = false;
    // Whether only what was decided before is served, or shapes are timed, too; empty: as the device has it by default.
    std::optional<bool> settled = std::nullopt;
    // tmm's problems are invariant (TMM_INVARIANT, which tmmGemmProblemInit goes by). The library behind adds up in orders of its own, so
    // that tmm multiplies all that it can.
    bool invariant = false;
    // The file that the shapes are added to, %p in it the process's number; empty: none.
    std::string record;
    LogLevel log = LogLevel::warn;
    // Bytes of a device's memory that workspaces may take; empty: a share of it.
    std::optional<std::int64_t> workspace_limit = std::nullopt;
    // The file that lines are appended to; empty: stderr.
    std::string log_file;
    // What was not understood or has no effect, for the log.
    std::string complaint;
};

// TMM_MODE, TMM_DEVICE, TMM_RECORD, TMM_LOG, TMM_WORKSPACE_LIMIT and TMM_SETTLED as they were when the library was loaded, paths from the
// directory that was then the program's. A set-user-ID program is left alone, whatever they say.
const Settings& settings();

// The settings that these texts make; null is a variable that is not set.
Settings parse_settings(const char* mode, const char* device, const char* record, const char* log, const char* workspace_limit = nullptr,
                        const char* settled = nullptr);

// Whether NVIDIA_TF32_OVERRIDE=0 forbids that FP32 is multiplied as TF32, whatever a program asks for. It is read when a program first asks
// for that: programs set it for cuBLAS, which reads it when a handle is made.
bool is_tf32_forbidden();

}  // namespace tmm::dropin
