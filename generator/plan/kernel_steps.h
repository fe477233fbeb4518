// The kernels of one call, step by step, for whoever wants to look at them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/kernel/kernel_source.h"
#include "generator/machine/device_info.h"
#include "generator/text/shapes_file.h"

namespace tmm {

// What tmm-gen is asked: a problem, the kernel for it and the device that it would run on.
struct KernelRequest {
    Shape shape;
    KernelConfig config;
    // The user named the config.
    bool chosen = false;
    DeviceInfo device;
};

// One kernel of a call.
struct KernelStep {
    KernelSource source;
    KernelSignature signature;
    PlanKernel kernel;
    int threads = 0;
    std::int64_t shared_bytes = 0;
    std::int64_t grid = 0;
    // Blocks of the grid that pack for the others, and those that add up strips.
    int packers = 0;
    int for_strips = 0;
};

struct KernelSteps {
    std::vector<KernelStep> steps;
    std::int64_t workspace_bytes = 0;
};

// The config must be valid for the problem.
KernelSteps steps_of(const KernelRequest& request);

}  // namespace tmm
