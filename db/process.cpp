// Process and machine identity from /proc.
#include "db/process.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "db/fields.h"

namespace tmm {
namespace {

std::string boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id;
}

// As long as a DNS label, which is all that Kubernetes takes of a pod's name.
constexpr std::size_t kHostLimit = 63;

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? one_line(name.data(), kHostLimit) : "";
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
    return {.host = host_name(), .boot_id = boot_id(), .process = getpid(), .started = start_of(getpid())};
}

bool is_alive(const ProcessIdentity& identity) {
    return identity.started != 0 && identity.boot_id == boot_id() && start_of(identity.process) == identity.started;
}

std::string machine_text(const ProcessIdentity& identity) {
    return one_line(identity.boot_id + ' ' + identity.host, 100);
}

ProcessIdentity parse_machine(const std::string& text) {
    const std::size_t space = std::min(text.find(' '), text.size());
    return {.host = text.substr(std::min(space + 1, text.size())), .boot_id = text.substr(0, space)};
}

}  // namespace tmm
