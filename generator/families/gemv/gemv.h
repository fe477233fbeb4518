// What the parts of the family gemv on the host know of each other: candidates and estimates.
#pragma once

#include <cstdint>
#include <vector>

#include "generator/families/predicted_time.h"
#include "generator/machine/device_info.h"
#include "generator/schedule/schedule.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// Configs worth a prediction; some may be invalid for the problem. There are none where the problem has more than a few rows and columns.
std::vector<KernelConfig> gemv_configs(const GemmProblem& problem, const DeviceInfo& device);

// How long a config of the gemv family is taken to run: the cost model's part for few rows.

// Microseconds of a valid config's whole plan: memory's time, that of the instructions, and that of the loads that wait for each other, of
// which the longest counts most. The constants are fitted to 2,000 configs of 8 problems of FP32 and bf16 on an H200: of two that
// differ by more than 3% it puts the faster first in 82 of 100.
PredictedTime gemv_estimate(const Schedule& schedule, const DeviceInfo& device);

// Microseconds of a plan whose product takes `product`, and the strips that it leaves (trim) their own beside it.
PredictedTime with_strips(const PredictedTime& product, const Schedule& schedule, const DeviceInfo& device);

// Registers of a thread that gemv's elements wait in until they are multiplied (families/gemv/kernel.cuh).
int registers_read_ahead(const GemmProblem& problem, const KernelConfig& config);

// The kernel that multiplies a strip of C, a few rows or columns that another family's tiles leave.
// swap: the strip has few columns, not rows. signature: the strip's, whose start may be less aligned than the matrix's.
KernelConfig gemv_strip(const Extent& extent, std::int64_t batch, const KernelSignature& signature, bool swap);

}  // namespace tmm
