// The kernel that stands between products when they are timed as programs run them: an activation, which reads and writes a matrix of its
// own.
#pragma once

#include "tmm/checks/other/args.h"
#include "tmm/copy/vector.cuh"

extern "C" __global__ void __launch_bounds__(tmm::kOtherThreads) tmm_other(const tmm::OtherArgs args) {
    const unsigned vector = blockIdx.x * tmm::kOtherThreads + threadIdx.x;
    float* const values = args.values + vector * tmm::kOtherWidth;
    auto loaded = tmm::load_vector<tmm::kOtherWidth>(values);
#pragma unroll
    for (float& value : loaded.element) value = value > 0 ? value : 0;
    tmm::store_vector(values, loaded);
}
