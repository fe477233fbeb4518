// How long a config of the families that are there to be read, naive and tiled, is taken to run.
#pragma once

#include "generator/families/predicted_time.h"
#include "generator/machine/device_info.h"
#include "generator/schedule/schedule.h"

namespace tmm {

struct TeachingKernel {
    // The part of the SM's FMA rate that the kernel reaches where there is enough independent work.
    double share_of_fma_rate;
    // Latencies of memory in which a block's loads are waited for, one after the other.
    double waits;
};

// Microseconds of a valid config's whole plan.
PredictedTime naive_and_tiled_estimate(const Schedule& schedule, const DeviceInfo& device, const TeachingKernel& kernel);

}  // namespace tmm
