// Process and machine identity from /proc.
#include "db/store/process.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "db/store/fields.h"

namespace tmm {
namespace {

std::string boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id;
}

// With a GPU's number of 12 bytes behind it no longer than a DNS label, which is all that Kubernetes takes of a pod's name.
constexpr std::size_t kHostLimit = 63 - 1 - 12;

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

std::string first_gpu(const std::filesystem::path& gpus) {
    std::string first;
    std::error_code failure;
    for (std::filesystem::directory_iterator it(gpus, failure), end; !failure && it != end; it.increment(failure)) {
        std::ifstream file(it->path() / "information");
        for (std::string line; std::getline(file, line);) {
            const std::size_t at = line.find("GPU-");
            if (!line.starts_with("GPU UUID") || at == std::string::npos) continue;
            const std::string number = one_line(line.substr(at), 12);
            if (first.empty() || number < first) first = number;
        }
    }
    return first;
}

ProcessIdentity this_process() {
    // The driver is asked once: it may take its time.
    static const auto& gpu = *new std::string(first_gpu("/proc/driver/nvidia/gpus"));
    return {.host = host_name() + (gpu.empty() ? "" : "/" + gpu), .boot_id = boot_id(), .process = getpid(), .started = start_of(getpid())};
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
