// How long the emulated device is taken to run a config: the cost model's part for a CPU whose threads are fibers.
#pragma once

#include <optional>
#include <string>

#include "generator/families/predicted_time.h"
#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// How long a valid config's whole plan takes, on a core of some 3 GHz. What counts there is how often threads are switched, at barriers
// and warp-wide operations, and not what a GPU would be short of: a thread that waits for no other is a plain call.
PredictedTime host_time_of_plan(const GemmProblem& problem, const KernelConfig& config);

// Microseconds that families' own parts (Product::host_estimate) are made of.
namespace host_cost {
inline constexpr double kLaunch = 1;
inline constexpr double kThread = 0.012;
inline constexpr double kSwitch = 0.05;
// An FMA whose operands are in memory, in shared memory, in registers.
inline constexpr double kFmaFromMemory = 1.1e-3;
inline constexpr double kFmaFromTile = 0.9e-3;
inline constexpr double kFmaFromRegisters = 0.35e-3;
// A copy of a vector to shared memory through registers, and asynchronously, which is written down and done later.
inline constexpr double kCopy = 4e-3;
inline constexpr double kAsyncCopy = 20e-3;
// One number that the lanes of a warp show each other, and a 16 x 8 x 16 product that a warp does together.
inline constexpr double kWarpOperation = 0.06;
inline constexpr double kStore = 5e-3;
}  // namespace host_cost

struct HostWork {
    double threads = 0;
    // Products that a thread's element is the sum of.
    double depth = 0;
};
HostWork host_work(const GemmProblem& problem, const KernelConfig& config);
// Threads that go through tiles of block_k: phase is what each takes in a phase beside its FMAs.
double host_time_of_tiles(const GemmProblem& problem, const KernelConfig& config, double phase, double fma);

// Why so many multiplications of the problem are more than a minute's work for the emulated device; nothing where they are less, or on
// another device.
std::optional<std::string> why_too_large(const GemmProblem& problem, const DeviceInfo& device, double multiplications);

}  // namespace tmm
