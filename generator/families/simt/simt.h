// What the parts of the family simt on the host know of each other: arguments, candidates and estimates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "generator/families/predicted_time.h"
#include "generator/machine/device_info.h"
#include "generator/schedule/schedule.h"
#include "generator/steps/launch_step.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

std::size_t bind_simt(const Schedule& schedule, const LaunchStep& step, const GemmCall& call, std::byte* arguments);
TensorMapRequests simt_tensor_maps(const LaunchStep& step, const std::byte* arguments);

// What the search tries of the simt family.

// Configs worth a prediction, for FP32 problems alone; some may be invalid for the problem.
std::vector<KernelConfig> simt_configs(const GemmProblem& problem, const DeviceInfo& device);
// The registers that a simt kernel's threads want, as a part of those that they can have.
double simt_register_need(const KernelConfig& config, const KernelSignature& signature, const DeviceInfo& device);

// The same for a config that nobody has compiled and that is to be sure not to spill: it counts what some architectures and copies want
// besides.
double simt_most_registers(const KernelConfig& config, const KernelSignature& signature, const DeviceInfo& device);

// How long a config of the simt family is taken to run: the cost model's part for FP32 FMAs.

// Microseconds of a valid config's whole plan. A block's time is the longest of what the schedulers and shared
// memory need for its tiles and of what its own instructions and loads wait for; memory's time is added nearly in full. The constants are
// fitted to 16,800 configs of 45 FP32 problems on an H200: of two that differ by more than 3% it puts the faster first in 80 of 100, also
// on problems that it was not fitted to.
PredictedTime simt_estimate(const Schedule& schedule, const DeviceInfo& device);

// Microseconds of the kernel that adds up parts of K, of so many bytes that are written and read.
double sum_of_parts_estimate(double bytes, const DeviceInfo& device);

// Tiles of simt that are made for a C with few rows or columns, so that little of them lies beyond its edges.

struct FittedTile {
    int block_m;
    int block_n;
    int thread_m;
    int thread_n;
};

// The tiles worth trying for m x n elements of C, one of each shape of thread tile at most: those that hold a tenth less than tiles with
// sides of a multiple of 32. There are none where C is large both ways.
std::vector<FittedTile> fitted_tiles(std::int64_t m, std::int64_t n);

}  // namespace tmm
