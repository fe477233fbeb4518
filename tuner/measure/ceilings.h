// The highest rates that a device reaches, by kernels that do one thing only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace tmm {

// The unit that multiplies: FP32 on CUDA cores, or tensor cores by the type of their operands.
enum class Unit { ffma, tf32, f16, bf16 };
// "ffma", "tf32", "f16", "bf16".
std::string_view name_of(Unit arithmetic);

// The rate counts two operations for each multiply-add, in registers or shared memory, of the fastest instruction that was tried.
struct FlopRate {
    double flop_per_us = 0;
    // "FFMA", "mma.sync".
    std::string instruction;
    // The launch that reached it: "16 chains a thread, 512 threads, 4 blocks an SM".
    std::string launch;
    // The SM clock while multiplying; 0 where it can't be read.
    int clock_mhz = 0;
};

// The highest rates of a device.
struct DeviceCeilings {
    // Rate of the swept read kernel over read_bytes, which the L2 does not hold.
    double read_bytes_per_us = 0;
    std::int64_t read_bytes = 0;
    // Rates of the arithmetics that were asked for, where the device has kernels that measure them.
    std::map<Unit, FlopRate> multiplying;
    // Time from one empty kernel of a replayed graph to the next.
    double launch_gap_us = 0;
    // The launch that reached it: "4 loads a thread, 512 threads, 4 blocks an SM".
    std::string read_launch;

    // The rate is 0 where it was not measured.
    double flop_per_us(Unit arithmetic) const;
};

}  // namespace tmm
