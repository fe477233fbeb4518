#include "tuner/compiling/search_compiler.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include "tuner/compiling/compile_processes.h"

namespace tmm {
namespace {

// The emulated device's compilers are large.
constexpr int kMostHostCompilers = 12;
// A process that compiles keeps 80 to 150 MB; the largest kernels take twice that for a moment.
constexpr std::int64_t kBytesOfProcess = 256LL << 20;

int usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(CPU_COUNT(&set), 1);
    return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

std::int64_t number_in(const char* file) {
    std::ifstream stream(file);
    std::int64_t number = 0;
    return stream >> number ? number : 0;
}

// What a container's limit leaves, where there is one.
std::int64_t bytes_left_in_group() {
    const std::int64_t most = number_in("/sys/fs/cgroup/memory.max");
    if (most <= 0) return std::numeric_limits<std::int64_t>::max();
    return std::max<std::int64_t>(most - number_in("/sys/fs/cgroup/memory.current"), 1);
}

std::int64_t free_bytes() {
    std::ifstream stream("/proc/meminfo");
    std::string word;
    while (stream >> word) {
        std::int64_t kilobytes = 0;
        if (word == "MemAvailable:" && stream >> kilobytes) return std::min(kilobytes << 10, bytes_left_in_group());
    }
    return 0;
}

}  // namespace

int compile_processes(int cores, std::int64_t free_bytes) {
    // Others need memory, too.
    const std::int64_t fit = free_bytes > 0 ? free_bytes / 2 / kBytesOfProcess : cores;
    return static_cast<int>(std::clamp<std::int64_t>(fit, 1, std::max(cores, 1)));
}

SearchCompiler make_search_compiler(const DeviceInfo& device, int spared_cores) {
    const int cores = std::max(usable_cores() - spared_cores, 1);
    if (device.emulated) return {.compiler = make_compiler(device), .threads = std::min(cores, kMostHostCompilers)};
    const int processes = compile_processes(cores, free_bytes());
    return {.compiler = std::make_shared<const CompileProcesses>(
                CompileProcessOptions{.compute_capability = device.compute_capability(), .most = processes}),
            .threads = processes};
}

}  // namespace tmm
