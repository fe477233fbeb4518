// How long the emulated device is taken to run a config: the cost model's part for a CPU whose threads are fibers.
#pragma once

#include <optional>
#include <string>

#include "generator/device_info.h"
#include "tmm/config.h"
#include "tmm/problem.h"

namespace tmm {

// Microseconds of a valid config's whole plan, on a core of some 3 GHz. What counts there is how often threads are switched, at barriers
// and warp-wide operations, and not what a GPU would be short of: a thread that waits for no other is a plain call.
double host_estimate(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

// Why so many multiplications of the problem are more than a minute's work for the emulated device; nothing where they are less, or on
// another device.
std::optional<std::string> why_too_large(const GemmProblem& problem, const DeviceInfo& device, double multiplications);

}  // namespace tmm
