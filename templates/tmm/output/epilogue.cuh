// The epilogue of a finished sum: C = alpha * sum + beta * C, in float, rounded once to C's type.
#pragma once

#include "tmm/number/element.cuh"
#include "tmm/tile/vector.cuh"
#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// The result of a sum where C holds `before`, not yet rounded: with beta = 0 `before` never counts, so that NaN there does not spread.
template <class C>
__device__ inline float result_of(float sum, C before, float alpha, float beta) {
    return beta != 0.0f ? fmaf(beta, to_float(before), alpha * sum) : alpha * sum;
}

// With beta = 0 C is never read.
template <KernelSignature signature>
__device__ inline void store_result(Element<signature.type_c>* c, float sum, float alpha, float beta) {
    float result = alpha * sum;
    if constexpr (signature.reads_c) {
        if (beta != 0.0f) result = fmaf(beta, to_float(*c), result);
    }
    *c = from_float<Element<signature.type_c>>(result);
}

// Stores `width` neighbouring elements of a row, of which the first `valid` exist.
template <KernelSignature signature, int width>
__device__ inline void store_results(Element<signature.type_c>* c, const float* sums, float alpha, float beta, int valid) {
    using C = Element<signature.type_c>;
    constexpr int aligned = signature.align_c / static_cast<int>(sizeof(C));
    constexpr int access = aligned < width ? aligned : width;
    if constexpr (access > 1) {
        if (valid >= width) {
#pragma unroll
            for (int first = 0; first < width; first += access) {
                Vector<C, access> results;
                if (signature.reads_c && beta != 0.0f) {
                    results = load_vector<access>(c + first);
#pragma unroll
                    for (int i = 0; i < access; ++i)
                        results.element[i] = from_float<C>(fmaf(beta, to_float(results.element[i]), alpha * sums[first + i]));
                } else {
#pragma unroll
                    for (int i = 0; i < access; ++i) results.element[i] = from_float<C>(alpha * sums[first + i]);
                }
                store_vector_global(c + first, results);
            }
            return;
        }
    }
#pragma unroll
    for (int i = 0; i < width; ++i)
        if (i < valid) store_result<signature>(c + i, sums[i], alpha, beta);
}

}  // namespace tmm
