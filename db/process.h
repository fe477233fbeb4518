// Identifies this process in a way that outlives it, to tell a run that goes on from one whose process or machine went away.
#pragma once

#include <cstdint>
#include <string>

namespace tmm {

struct ProcessIdentity {
    // The id differs after the machine has restarted; it is empty where the system does not say.
    std::string boot_id;
    std::int64_t process = 0;
    // Clock ticks from the machine's start to the process's.
    std::int64_t started = 0;

    friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

ProcessIdentity this_process();
// Whether the process runs now, on this machine.
bool is_alive(const ProcessIdentity& identity);

}  // namespace tmm
