// Who packs operands while they are multiplied (packers.cuh), and how much of them is packed before.
#pragma once

#include <optional>
#include <string>

#include "generator/device_info.h"
#include "tmm/config.h"
#include "tmm/signature.h"

namespace tmm {

struct PackingBeside {
    // Blocks of the product's grid, its first; 0: all is packed before.
    int packers = 0;
    // Of the operands' rows of squares, 64 k each, the first that packers pack.
    int first_row = 0;
};

// Of a config whose pack_ab says so; no packers for any other.
PackingBeside packing_beside(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

// Why packers would have nothing to do, or can't serve the problem.
std::optional<std::string> why_not_packed_beside(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

// The part of the operands that is packed before the product; 1 where all is.
double share_packed_before(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

}  // namespace tmm
