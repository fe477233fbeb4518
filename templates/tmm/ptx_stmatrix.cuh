// PTX that writes the sums of tensor cores to shared memory as 16-bit numbers.
#pragma once

#include "tmm/problem.h"
#include "tmm/ptx.cuh"

namespace tmm::ptx {

// Two floats rounded to nearest; the first stands in the lower half.
template <ElementType type>
__device__ inline unsigned cvt_rn_pair(float lower, float upper) {
    unsigned pair;
    if constexpr (type == ElementType::f16)
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(upper), "f"(lower));
    else
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(upper), "f"(lower));
    return pair;
}

// Four 8 x 8 matrices of 16-bit elements: lane l holds, of each, elements 2 (l % 4) and the next of row l / 4, and gives the address of
// the 16 bytes where row l % 8 of matrix l / 8 goes; transposed: where column l % 8 goes.
template <bool transposed>
__device__ inline void stmatrix_x4(void* row, const unsigned (&pairs)[4]) {
    if constexpr (transposed)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)), "r"(pairs[0]),
                     "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3])
                     : "memory");
    else
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)), "r"(pairs[0]),
                     "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3])
                     : "memory");
}
// Two matrices; lanes 0 to 15 give the addresses.
template <bool transposed>
__device__ inline void stmatrix_x2(void* row, const unsigned (&pairs)[2]) {
    if constexpr (transposed)
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(shared_address(row)), "r"(pairs[0]),
                     "r"(pairs[1])
                     : "memory");
    else
        asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(shared_address(row)), "r"(pairs[0]), "r"(pairs[1])
                     : "memory");
}

}  // namespace tmm::ptx
