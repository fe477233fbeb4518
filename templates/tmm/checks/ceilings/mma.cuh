// Kernels that multiply by tensor cores in registers, and do nothing else: what they reach no matrix product by the same instructions can
// pass. They are apart from kernels.cuh because they need compute capability 8.0.
#pragma once

#include "tmm/checks/ceilings/args.h"
#include "tmm/number/element.cuh"

namespace tmm::ceilings {

// One random float between -1 and 1 for each thread and place: power, and with it the clock, depends on what is multiplied.
__device__ inline float random_value(unsigned place) {
    unsigned bits = (blockIdx.x * blockDim.x + threadIdx.x) * 64u + place;
    bits = (bits ^ (bits >> 16)) * 0x7feb352du;
    bits = (bits ^ (bits >> 15)) * 0x846ca68bu;
    bits ^= bits >> 16;
    return static_cast<float>(static_cast<int>(bits)) * (1.0f / 2147483648.0f);
}

// The contents of an operand's register, and the instruction.
struct Bf16Mma {
    __device__ static unsigned operand(unsigned place) {
        const unsigned low = from_float<Bfloat16>(random_value(2 * place)).bits;
        return low | static_cast<unsigned>(from_float<Bfloat16>(random_value(2 * place + 1)).bits) << 16;
    }
    static constexpr unsigned sign_bits = 0x80008000u;
    __device__ static void multiply(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
        ptx::mma_m16n8k16_bf16(sums, a, b0, b1);
    }
};
struct F16Mma {
    __device__ static unsigned operand(unsigned place) {
        const unsigned low = from_float<Half>(random_value(2 * place)).bits;
        return low | static_cast<unsigned>(from_float<Half>(random_value(2 * place + 1)).bits) << 16;
    }
    static constexpr unsigned sign_bits = 0x80008000u;
    __device__ static void multiply(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
        ptx::mma_m16n8k16_f16(sums, a, b0, b1);
    }
};
struct Tf32Mma {
    __device__ static unsigned operand(unsigned place) { return static_cast<unsigned>(__float_as_int(random_value(place))); }
    static constexpr unsigned sign_bits = 0x80000000u;
    __device__ static void multiply(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
        ptx::mma_m16n8k8_tf32(sums, a, b0, b1);
    }
};

// The accumulators do not wait for each other: `chains` multiplications of a warp are under way at once. Every other multiplication takes
// the negative of the same product, so that sums stay as small as a matrix product's.
template <class Mma, int chains>
__device__ inline void multiply_by_tensor_cores(const MmaArgs& args) {
    unsigned a[2][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        a[0][i] = Mma::operand(static_cast<unsigned>(i));
        a[1][i] = a[0][i] ^ Mma::sign_bits;
    }
    unsigned b[chains][2];
    float sums[chains][4];
#pragma unroll
    for (int chain = 0; chain < chains; ++chain) {
#pragma unroll
        for (int i = 0; i < 2; ++i) b[chain][i] = Mma::operand(static_cast<unsigned>(4 + 2 * (chain % 4) + i));
#pragma unroll
        for (int i = 0; i < 4; ++i) sums[chain][i] = random_value(static_cast<unsigned>(32 + i));
    }
    for (int round = 0; round < args.rounds; ++round) {
#pragma unroll
        for (int step = 0; step < kMmaSteps; ++step) {
#pragma unroll
            for (int chain = 0; chain < chains; ++chain) Mma::multiply(sums[chain], a[step % 2], b[chain][0], b[chain][1]);
        }
    }
    float total = 0;
#pragma unroll
    for (int chain = 0; chain < chains; ++chain) {
#pragma unroll
        for (int i = 0; i < 4; ++i) total += sums[chain][i];
    }
    if (total == args.impossible) *args.sink = total;
}

}  // namespace tmm::ceilings

extern "C" __global__ void __launch_bounds__(512) tmm_ceiling_mma_bf16_4(const tmm::MmaArgs args) {
    tmm::ceilings::multiply_by_tensor_cores<tmm::ceilings::Bf16Mma, 4>(args);
}
extern "C" __global__ void __launch_bounds__(512) tmm_ceiling_mma_bf16_16(const tmm::MmaArgs args) {
    tmm::ceilings::multiply_by_tensor_cores<tmm::ceilings::Bf16Mma, 16>(args);
}
extern "C" __global__ void __launch_bounds__(512) tmm_ceiling_mma_f16_4(const tmm::MmaArgs args) {
    tmm::ceilings::multiply_by_tensor_cores<tmm::ceilings::F16Mma, 4>(args);
}
extern "C" __global__ void __launch_bounds__(512) tmm_ceiling_mma_f16_16(const tmm::MmaArgs args) {
    tmm::ceilings::multiply_by_tensor_cores<tmm::ceilings::F16Mma, 16>(args);
}
extern "C" __global__ void __launch_bounds__(512) tmm_ceiling_mma_tf32_4(const tmm::MmaArgs args) {
    tmm::ceilings::multiply_by_tensor_cores<tmm::ceilings::Tf32Mma, 4>(args);
}
extern "C" __global__ void __launch_bounds__(512) tmm_ceiling_mma_tf32_16(const tmm::MmaArgs args) {
    tmm::ceilings::multiply_by_tensor_cores<tmm::ceilings::Tf32Mma, 16>(args);
}
