// What the families' models of the emulated device have in common: a CPU whose threads are fibers.
#pragma once

#include "generator/schedule/schedule.h"

namespace tmm {

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
HostWork host_work(const Schedule& schedule);
// Threads that go through tiles of block_k: phase is what each takes in a phase beside its FMAs.
double host_time_of_tiles(const Schedule& schedule, double phase, double fma);

}  // namespace tmm
