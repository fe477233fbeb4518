#include "tuner/run/helper_options.h"

#include "runtime/device/device.h"
#include "tuner/compiling/compile_processes.h"
#include "tuner/worker/worker.h"

namespace tmm {

std::vector<OptionDescription> helper_options() {
    return {{.name = "worker", .value = "ORDINAL", .help = "serve as the worker process of a device", .hidden = true, .alone = true},
            {.name = "compiler",
             .value = "CAPABILITY",
             .help = "serve as a process that compiles for a compute capability (90)",
             .hidden = true,
             .alone = true}};
}

std::optional<ExitStatus> serve_as_helper(const CommandLine& line) {
    if (line.has("worker"))
        return static_cast<ExitStatus>(serve_worker(static_cast<int>(line.whole_number("worker", kHostDevice, 1 << 20))));
    if (line.has("compiler")) return static_cast<ExitStatus>(serve_compiler(static_cast<int>(line.whole_number("compiler", 10, 9999))));
    return std::nullopt;
}

}  // namespace tmm
