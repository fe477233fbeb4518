// The least time in which a shape's operands can be read.
#pragma once

#include <cstdint>

#include "bench/operands/operands.h"
#include "tuner/measure/ceiling_sweep.h"

namespace tmm::bench {

// Times the swept read kernel over what the operands' sets hold, set after set in one replay, as a multiplication of them is timed.
// Where C is so large that without it the sets would fit into the L2, the kernel reads as many bytes in memory of its own, in enough
// sets to span rotation_bytes (at most Operands::kMostSets).
ReadFloor read_floor(const CeilingSweep& sweep, const Operands& operands, std::int64_t rotation_bytes);

}  // namespace tmm::bench
