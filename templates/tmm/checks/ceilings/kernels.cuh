// Kernels that do one thing as fast as the device can: read memory, multiply and add in registers, or nothing at all. What they
// reach is what no matrix product can pass.
#pragma once

#include "tmm/checks/ceilings/args.h"
#include "tmm/copy/vector.cuh"

namespace tmm::ceilings {

using ReadVector = Vector<unsigned, kReadVectorBytes / sizeof(unsigned)>;

// Reads the ranges one after the other, as if they were one range.
__device__ inline ReadVector load_from(const ReadArgs& args, i64 index) {
    const void* start = args.ranges[0].start;
    i64 before = 0;
    i64 end = args.ranges[0].vectors;
#pragma unroll
    for (int i = 1; i < kReadRanges; ++i) {
        if (index >= end) {
            start = args.ranges[i].start;
            before = end;
        }
        end += args.ranges[i].vectors;
    }
    return ptx::ld<ReadVector>(static_cast<const ReadVector*>(start) + (index - before));
}

// A block takes chunks of consecutive vectors; a thread has `loads` of them under way at once, a block's width apart, and
// waits for none before all are issued.
template <int loads>
__device__ inline void read(const ReadArgs& args) {
    const i64 width = blockDim.x;
    const i64 chunk = width * loads;
    i64 total = 0;
#pragma unroll
    for (int i = 0; i < kReadRanges; ++i) total += args.ranges[i].vectors;

    unsigned folded = 0;
    for (i64 first = blockIdx.x * chunk; first < total; first += gridDim.x * chunk) {
        ReadVector loaded[loads];
        if (first + chunk <= total) {
#pragma unroll
            for (int i = 0; i < loads; ++i) loaded[i] = load_from(args, first + i * width + threadIdx.x);
        } else {
#pragma unroll
            for (int i = 0; i < loads; ++i) {
                const i64 index = first + i * width + threadIdx.x;
                loaded[i] = index < total ? load_from(args, index) : ReadVector{};
            }
        }
#pragma unroll
        for (int i = 0; i < loads; ++i) folded ^= loaded[i].element[0] ^ loaded[i].element[1] ^ loaded[i].element[2] ^ loaded[i].element[3];
    }
    if (folded == args.improbable) *args.sink = folded;
}

// The chains do not wait for each other: `chains` multiplications of a thread are under way at once.
template <int chains>
__device__ inline void multiply_add(const FmaArgs& args) {
    float value[chains];
#pragma unroll
    for (int i = 0; i < chains; ++i) value[i] = static_cast<float>(threadIdx.x + static_cast<unsigned>(i));
    for (int round = 0; round < args.rounds; ++round) {
#pragma unroll
        for (int step = 0; step < kFmaSteps; ++step) {
#pragma unroll
            for (int i = 0; i < chains; ++i) value[i] = fmaf(value[i], args.factor, args.summand);
        }
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < chains; ++i) sum += value[i];
    if (sum == args.impossible) *args.sink = sum;
}

}  // namespace tmm::ceilings

extern "C" __global__ void __launch_bounds__(1024) tmm_ceiling_read_1(const tmm::ReadArgs args) {
    tmm::ceilings::read<1>(args);
}
extern "C" __global__ void __launch_bounds__(1024) tmm_ceiling_read_2(const tmm::ReadArgs args) {
    tmm::ceilings::read<2>(args);
}
extern "C" __global__ void __launch_bounds__(1024) tmm_ceiling_read_4(const tmm::ReadArgs args) {
    tmm::ceilings::read<4>(args);
}
extern "C" __global__ void __launch_bounds__(1024) tmm_ceiling_read_8(const tmm::ReadArgs args) {
    tmm::ceilings::read<8>(args);
}
extern "C" __global__ void __launch_bounds__(1024) tmm_ceiling_fma_8(const tmm::FmaArgs args) {
    tmm::ceilings::multiply_add<8>(args);
}
extern "C" __global__ void __launch_bounds__(1024) tmm_ceiling_fma_16(const tmm::FmaArgs args) {
    tmm::ceilings::multiply_add<16>(args);
}
extern "C" __global__ void __launch_bounds__(1024) tmm_ceiling_empty(const tmm::EmptyArgs) {}
