// What packed operands let a plan do besides: strips of C are multiplied while operands are packed (tmm/steps/pack/kernel.cuh), and blocks
// of the product pack while others multiply (packers.cuh).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "generator/machine/device_info.h"
#include "generator/schedule/schedule.h"

namespace tmm {

// The strips of what the config's tiles leave, where its trim says so.
PackedStrips packed_strips(const GemmProblem& problem, const KernelConfig& config);

// Pieces of work (tmm/steps/pack/strips.h) of the whole batch; 0 where there is no such strip.
std::int64_t pieces_of_strips(const Schedule& schedule);

// Blocks of the product's grid that add the strips up, in whole clusters of so many blocks.
int blocks_for_strips(const Schedule& schedule, int cluster, const DeviceInfo& device);

// What a config packs beside its product, where its pack_ab says so; there are no packers for any other config. The schedule's blocks are
// known.
PackingBeside packing_beside(const Schedule& schedule, const DeviceInfo& device);

// Why packers would have nothing to do, or can't serve the problem.
std::optional<std::string> why_not_packed_beside(const Schedule& schedule);

// The part of the operands that is packed before the product; 1 where all is.
double share_packed_before(const Schedule& schedule);

}  // namespace tmm
