// What the parts of the family wgmma on the host know of each other: arguments, candidates and estimates.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "generator/families/predicted_time.h"
#include "generator/machine/device_info.h"
#include "generator/schedule/schedule.h"
#include "generator/steps/launch_step.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

std::size_t bind_wgmma(const Schedule& schedule, const LaunchStep& step, const GemmCall& call, std::byte* arguments);
TensorMapRequests wgmma_tensor_maps(const LaunchStep& step, const std::byte* arguments);

// What the search tries of the wgmma family.

// Does the family serve problems of this kind on the device?
bool suits_wgmma(const GemmProblem& problem, const DeviceInfo& device);

// Every config that is worth a prediction; some may be invalid for the problem.
std::vector<KernelConfig> wgmma_configs(const GemmProblem& problem, const DeviceInfo& device);

// Orders of tiles worth trying (KernelConfig::raster).
inline constexpr int kWgmmaRasters[] = {0, 8, 16};

// Whether the config's bands take tiles in another order than the next smaller ones, or than none. extent: that of what the product
// computes.
bool has_order_of_its_own(const KernelConfig& config, const Extent& extent);

// The same config with the boundary mode that its last tiles want: peeled where they lack 8 rows or more (wgmma::missing_rows). Its block_m
// and block_n are not 0.
KernelConfig with_wgmma_boundary(KernelConfig config, const GemmProblem& problem);

// How long a config of the wgmma family is taken to run, and what it depends on beyond the config: the cost model's part for tensor
// cores that TMA feeds.

// Microseconds of a valid config's whole plan. A block's time is the longest of what the tensor cores, their operands' way through shared
// memory, and L2 need for its tiles; the kernel's time is that of the busiest SM, and no less than memory and its latency want. The
// constants are fitted to some 29,000 configs of 93 problems of 16 bits and tf32 on an H200: of two that differ by more than 3% it puts the
// faster first in 77 of 100, and the config that it puts first takes 1.04 times as long as the fastest.
PredictedTime wgmma_estimate(const Schedule& schedule, const DeviceInfo& device);

// Are all rows of A and B that TMA brings whole lines of 128 bytes? Where they are not, the L2 is asked for two lines a row of a box, not
// one.
bool rows_are_whole_lines(const GemmProblem& problem, int planes);

// The wgmma instruction that a kernel uses, as text: its PTX names every accumulator register.

// The specialisation of ptx::wgmma_mma_async, or of ptx::wgmma_mma_async_fragments, (templates/tmm/ptx.cuh) for a config of
// family wgmma; empty where no kernel can be made of it.
std::string wgmma_instruction(const KernelSignature& signature, const KernelConfig& config);

}  // namespace tmm
