#include "tuner/dry_run.h"

#include <cstdio>

#include "runtime/device.h"
#include "tuner/worker_process.h"

namespace tmm {
namespace {

// Only a worker may open a GPU.
DeviceInfo device_info(int ordinal, const Interrupt& interrupt) {
    if (ordinal == kHostDevice) return host_device_info();
    if (gpu_count() > 0) return WorkerProcess(ordinal, interrupt).device();
    std::fputs("tmm-tune: no GPU here, --dry-run takes the emulated device (host)\n", stderr);
    return host_device_info();
}

}  // namespace

std::vector<DryRun> dry_run(const std::vector<Shape>& shapes, const TuningOptions& options, bool with_configs, const Interrupt& interrupt) {
    std::vector<DryRun> results;
    for (const int ordinal : options.ordinals) {
        results.push_back({.device = device_info(ordinal, interrupt), .problems = {}});
        for (const Shape& shape : shapes_of(options.shard, with_sample_sizes(shapes, results.back().device))) {
            if (interrupt.requested()) return results;
            results.back().problems.push_back(dry_run_of(shape, results.back().device, options.effort, with_configs));
        }
    }
    return results;
}

}  // namespace tmm
