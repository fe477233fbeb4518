// How long a config of the simt family is taken to run: the cost model's part for FP32 FMAs.
#pragma once

#include "generator/families/predicted_time.h"
#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// Microseconds of a valid config's whole plan. A block's time is the longest of what the schedulers and shared
// memory need for its tiles and of what its own instructions and loads wait for; memory's time is added nearly in full. The constants are
// fitted to 16,800 configs of 45 FP32 problems on an H200: of two that differ by more than 3% it puts the faster first in 80 of 100, also
// on problems that it was not fitted to.
PredictedTime simt_estimate(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

// Microseconds of the kernel that adds up parts of K, of so many bytes that are written and read.
double sum_of_parts_estimate(double bytes, const DeviceInfo& device);

}  // namespace tmm
