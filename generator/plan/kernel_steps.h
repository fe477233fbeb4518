// The kernels of one call, step by step, for whoever wants to look at them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generator/compile/kernel_source.h"
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

// One kernel of a call. A kernel that is shown by itself, outside of any plan, has no grid.
struct KernelStep {
    KernelSource source;
    KernelSignature signature;
    KernelConfig config;
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

// Families that only prepare or finish others' products serve no problem; their kernels are shown by themselves.
bool is_step_of_others(const KernelConfig& config);

// Why the config can't serve the problem.
std::optional<std::string> fault_of(const KernelRequest& request);

KernelSteps steps_of(const KernelRequest& request);

}  // namespace tmm
