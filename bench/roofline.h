// Computes the bounds that no multiplication can beat: a device's ceilings, and a shape's floor under them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tmm/vocabulary/problem.h"

namespace tmm::bench {

// The unit that multiplies: FP32 on CUDA cores, or tensor cores by the type of their operands.
enum class Unit { ffma, tf32, f16, bf16 };
inline constexpr Unit kUnits[] = {Unit::ffma, Unit::tf32, Unit::f16, Unit::bf16};
// "ffma", "tf32", "f16", "bf16".
std::string_view name_of(Unit arithmetic);
// The fastest arithmetic that the problem's types and compute mode allow. f32 products count as FFMAs.
Unit unit_of(const GemmProblem& problem);

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

// The highest rates of the device, measured in the same run as the shapes.
struct Ceilings {
    // Rate of the swept read kernel over read_bytes, which the L2 does not hold.
    double read_bytes_per_us = 0;
    std::int64_t read_bytes = 0;
    // Rates of the arithmetics that shapes ask for, where the device has kernels that measure them.
    std::map<Unit, FlopRate> multiplying;
    // Time from one empty kernel of a replayed graph to the next.
    double launch_gap_us = 0;
    // The launch that reached it: "4 loads a thread, 512 threads, 4 blocks an SM".
    std::string read_launch;

    // The rate is 0 where it was not measured.
    double flop_per_us(Unit arithmetic) const;
};

// The work that a shape asks of the device.
struct Demand {
    // Time of the swept read kernel over the bytes that A and B hold (and C, where it is read), in the shape's own rotation.
    double read_us = 0;
    double read_bytes = 0;
    // Bytes of C; 0 where the operands stay in the L2, which then takes what is written.
    double written_bytes = 0;
    // 2 m n k operations for each matrix of the batch; 0 where alpha is 0.
    double flop = 0;
    Unit arithmetic = Unit::ffma;
};

enum class Bound { read, traffic, fma, launch };
std::string_view name_of(Bound bound);

struct Floor {
    double read_us = 0;
    double traffic_us = 0;
    double fma_us = 0;
    double launch_us = 0;
    // The largest of the four, and which that is.
    double us = 0;
    Bound bound = Bound::launch;
};

// max(read_us, traffic_us, flop / rate of its arithmetic, launch gap), where traffic_us = (read_bytes + written_bytes) / the faster of the
// device's read rate and this shape's own. Writing C is not simply added to read_us: a small C drains while the next launch waits
// for its first loads, and a floor must not be too high. But all bytes cross the memory's wires, none faster than the fastest
// read; nothing written, no such bound.
Floor floor_of(const Demand& demand, const Ceilings& ceilings);

}  // namespace tmm::bench
