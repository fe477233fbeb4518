// Identifies this process in a way that outlives it, to tell a run that goes on from one whose process or machine went away, and both from
// one of another machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace tmm {

struct ProcessIdentity {
    // The host's name and the first of its GPUs ("node7/GPU-1b2c3d4e"). A container may have a name of its own, as it has process numbers
    // of its own, and may keep it where it comes back on another machine, as pods of a Job do; then its GPUs are others.
    std::string host;
    // The id differs after the machine has restarted; it is empty where the system does not say.
    std::string boot_id;
    std::int64_t process = 0;
    // Clock ticks from the machine's start to the process's.
    std::int64_t started = 0;

    friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

ProcessIdentity this_process();
// The first GPU that the driver's folder describes, by the first digits of its UUID ("GPU-1b2c3d4e"); empty where there is none.
std::string first_gpu(const std::filesystem::path& gpus);

// Whether the process runs now, on this machine.
bool is_alive(const ProcessIdentity& identity);

// "BOOT_ID HOST", at most 100 bytes, and what it says; nothing is said of the process. Older rows hold the boot id alone: no host is named.
std::string machine_text(const ProcessIdentity& identity);
ProcessIdentity parse_machine(const std::string& text);

}  // namespace tmm
