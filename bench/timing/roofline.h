// Computes the bounds that no multiplication can beat: a shape's floor under a device's ceilings, and the least time in which its operands
// can be read.
#pragma once

#include <cstdint>
#include <string_view>

#include "bench/operands/operands.h"
#include "tmm/vocabulary/problem.h"
#include "tuner/measure/ceilings.h"

namespace tmm::bench {

// The fastest arithmetic that the problem's types and compute mode allow. f32 products count as FFMAs.
Unit unit_of(const GemmProblem& problem);

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
Floor floor_of(const Demand& demand, const DeviceCeilings& ceilings);

// The least time in which a shape's operands can be read.

// Times the swept read kernel over what the operands' sets hold, set after set in one replay, as a multiplication of them is timed.
// Where C is so large that without it the sets would fit into the L2, the kernel reads as many bytes in memory of its own, in enough
// sets to span rotation_bytes (at most Operands::kMostSets).
ReadFloor read_floor(const CeilingSweep& sweep, const Operands& operands, std::int64_t rotation_bytes);

}  // namespace tmm::bench
