// Process and machine identity from /proc.
#include "db/process.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

namespace tmm {
namespace {

std::string boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id;
}

// The start is 0 where there is no such process, or it is a zombie.
std::int64_t start_of(std::int64_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    std::getline(file, line);
    // The name in parentheses may hold anything: fields count from the last ')'. State is the 3rd, the start the 22nd.
    const auto name_end = line.rfind(')');
    if (name_end == std::string::npos) return 0;
    std::istringstream fields(line.substr(name_end + 1));
    std::string field;
    fields >> field;
    if (field == "Z" || field == "X") return 0;
    for (int i = 4; i <= 22; ++i) fields >> field;
    return fields ? std::strtoll(field.c_str(), nullptr, 10) : 0;
}

}  // namespace

ProcessIdentity this_process() {
    return {.boot_id = boot_id(), .process = getpid(), .started = start_of(getpid())};
}

bool is_alive(const ProcessIdentity& identity) {
    return identity.started != 0 && identity.boot_id == boot_id() && start_of(identity.process) == identity.started;
}

}  // namespace tmm
