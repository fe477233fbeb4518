// The naive family: one thread computes one element of C straight from global memory, with a bounds check. It takes any
// size, any leading dimension and any element-aligned pointer, which makes it the kernel of last resort.
#pragma once

#include "tmm/args.h"
#include "tmm/config.h"
#include "tmm/epilogue.cuh"
#include "tmm/signature.h"

namespace tmm::naive {

constexpr int threads(const KernelConfig& c) { return c.block_m * c.block_n; }
constexpr i64 shared_bytes(const KernelConfig&, const KernelSignature&) { return 0; }

constexpr const char* first_violation(const KernelConfig& c, const KernelSignature&) {
    if (c.block_m < 1 || c.block_n < 1 || threads(c) > 1024) return "block_m * block_n is the block's threads: 1 to 1024";
    if (c.boundary != boundary::guarded) return "naive checks every element: its boundary mode is guarded";
    if (c.split_k != 1) return "naive does not split K";
    if (KernelConfig used{.family = family::naive, .block_m = c.block_m, .block_n = c.block_n}; !(used == c))
        return "naive uses block_m and block_n only";
    return nullptr;
}

// Blocks walk over the tiles of C, so that the grid's limit does not bound the problem.
constexpr i64 blocks(const KernelConfig& c, i64 m, i64 n, i64 batch) {
    const i64 tiles = ((m + c.block_m - 1) / c.block_m) * ((n + c.block_n - 1) / c.block_n) * batch;
    return tiles < 2147483647 ? tiles : 2147483647;
}

template <KernelSignature signature, KernelConfig config>
__device__ void kernel(const GemmArgs& args) {
    static_assert(first_violation(config, signature) == nullptr);
    const i64 tiles_m = (args.m + config.block_m - 1) / config.block_m;
    const i64 tiles_n = (args.n + config.block_n - 1) / config.block_n;
    const i64 tiles = tiles_m * tiles_n * args.batch;
    const float alpha = static_cast<float>(args.alpha);
    const float beta = static_cast<float>(args.beta);
    // Steps from one k to the next along a row of op(A) and a column of op(B).
    const i64 step_a = signature.op_a == Operation::none ? 1 : args.lda;
    const i64 step_b = signature.op_b == Operation::none ? args.ldb : 1;

    for (i64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const i64 batch = tile / (tiles_m * tiles_n);
        const i64 row = tile / tiles_n % tiles_m * config.block_m + threadIdx.x / config.block_n;
        const i64 column = tile % tiles_n * config.block_n + threadIdx.x % config.block_n;
        if (row < args.m && column < args.n) {
            const float* a = static_cast<const float*>(args.a) + batch * args.stride_a +
                             (signature.op_a == Operation::none ? row * args.lda : row);
            const float* b = static_cast<const float*>(args.b) + batch * args.stride_b +
                             (signature.op_b == Operation::none ? column : column * args.ldb);
            float sum = 0.0f;
            for (i64 k = 0; k < args.k; ++k) sum = fmaf(a[k * step_a], b[k * step_b], sum);
            float* c = static_cast<float*>(args.c) + batch * args.stride_c + row * args.ldc + column;
            store_result<signature>(c, sum, alpha, beta);
        }
    }
}

}  // namespace tmm::naive
