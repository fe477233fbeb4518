// Which strips of C are multiplied while operands are packed (steps/pack/kernel.cuh), and who adds them up (strips.cuh).
#pragma once

#include <cstdint>

#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

struct Tiling;

struct PackedStrips {
    // Columns of C, whose long operand is A, and rows, whose long operand is B; 0: `pack` multiplies none.
    int columns = 0;
    int rows = 0;

    bool any() const { return columns > 0 || rows > 0; }
};

// The strips of what the config's tiles leave, where its trim says so.
PackedStrips packed_strips(const GemmProblem& problem, const KernelConfig& config);

// Where the parts of the strips' sums stand, in bytes from the workspace's start, and where they end.
struct StripSums {
    std::int64_t of_columns = 0;
    std::int64_t of_rows = 0;
    std::int64_t end = 0;
};
StripSums strip_sums(const GemmProblem& problem, const Tiling& tiling, std::int64_t begin);

// Pieces of work (tmm/steps/pack/strips.h) of the whole batch; 0 where there is no such strip.
std::int64_t pieces_of_strips(const GemmProblem& problem, const Tiling& tiling);

// Blocks of the product's grid that add the strips up, in whole clusters.
int blocks_for_strips(const GemmProblem& problem, const KernelConfig& config, const Tiling& tiling, const DeviceInfo& device);

}  // namespace tmm
