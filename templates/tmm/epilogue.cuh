// What happens to a finished sum: C = alpha * sum + beta * C.
#pragma once

#include "tmm/args.h"
#include "tmm/signature.h"
#include "tmm/vector.cuh"

namespace tmm {

// beta = 0 never reads C, so that NaN there does not spread.
template <KernelSignature signature>
__device__ inline void store_result(float* c, float sum, float alpha, float beta) {
    float result = alpha * sum;
    if constexpr (signature.reads_c) {
        if (beta != 0.0f) result = fmaf(beta, *c, result);
    }
    *c = result;
}

// `width` neighbouring elements of a row, of which the first `valid` exist.
template <KernelSignature signature, int width>
__device__ inline void store_results(float* c, const float* sums, float alpha, float beta, int valid) {
    constexpr int access = signature.align_c / 4 < width ? signature.align_c / 4 : width;
    if constexpr (access > 1) {
        if (valid >= width) {
#pragma unroll
            for (int first = 0; first < width; first += access) {
                Vector<float, access> results;
                if (signature.reads_c && beta != 0.0f) {
                    results = load_vector<access>(c + first);
#pragma unroll
                    for (int i = 0; i < access; ++i) results.element[i] = fmaf(beta, results.element[i], alpha * sums[first + i]);
                } else {
#pragma unroll
                    for (int i = 0; i < access; ++i) results.element[i] = alpha * sums[first + i];
                }
                store_vector(c + first, results);
            }
            return;
        }
    }
#pragma unroll
    for (int i = 0; i < width; ++i)
        if (i < valid) store_result<signature>(c + i, sums[i], alpha, beta);
}

}  // namespace tmm
