// Who packs operands while they are multiplied (steps/pack/packers.cuh), and how much of them is packed before.
#pragma once

#include <optional>
#include <string>

#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

struct PackingBeside {
    // The first blocks of the product's grid pack; 0: all is packed before.
    int packers = 0;
    // The first of the operands' rows of squares, 64 k each, that packers pack.
    int first_row = 0;
};

// What a config packs beside its product, where its pack_ab says so; there are no packers for any other config.
PackingBeside packing_beside(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

// Why packers would have nothing to do, or can't serve the problem.
std::optional<std::string> why_not_packed_beside(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

// The part of the operands that is packed before the product; 1 where all is.
double share_packed_before(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

}  // namespace tmm
