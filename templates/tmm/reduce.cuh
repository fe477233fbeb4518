// The second half of split-K: adds up the parts of each element in ascending order and applies the epilogue, so that the same
// inputs give the same bits. Where there are many parts, block_m threads take every block_m-th part of an element, and the
// first of them adds up what all found, some of them at a time.
#pragma once

#include "tmm/args.h"
#include "tmm/epilogue.cuh"
#include "tmm/previous_kernel.cuh"
#include "tmm/reduce.h"
#include "tmm/shared_memory.cuh"
#include "tmm/vector.cuh"

namespace tmm::reduce {

__device__ inline void add(Vector<float, kVector>& sum, const Vector<float, kVector>& value) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) sum.element[i] += value.element[i];
}

// Where a vector stands in C.
struct Place {
    i64 batch;
    i64 row;
    i64 column;
};
// number: among all vectors, row after row, which are padded to whole ones, and matrix after matrix.
__device__ inline Place place_of(const GemmArgs& args, i64 number) {
    const i64 of_row = workspace_ld(args.n) / kVector;
    const i64 row = number / of_row;
    const i64 batch = args.batch > 1 ? row / args.m : 0;
    return {batch, row - batch * args.m, (number - row * of_row) * kVector};
}

template <KernelSignature signature, KernelConfig config>
__device__ void kernel(const GemmArgs& args) {
    static_assert(first_violation(config, signature) == nullptr);
    constexpr int vectors = config.block_n / kVector;
    constexpr int sharers = config.block_m;
    const int vector = static_cast<int>(threadIdx.x) % vectors;
    const int sharer = static_cast<int>(threadIdx.x) / vectors;
    const i64 ld = workspace_ld(args.n);
    const i64 all = args.batch * args.m * (ld / kVector);
    const float alpha = static_cast<float>(args.alpha);
    const float beta = static_cast<float>(args.beta);
    SharedMemory shared;
    float* sums = shared.take<float, sharers * config.block_n>()[0];

    // The first is found while the kernel before this one ends.
    Place place = place_of(args, i64{blockIdx.x} * vectors + vector);
    wait_for_previous_kernel();
    for (i64 first = i64{blockIdx.x} * vectors; first < all;) {
        const bool exists = first + vector < all;
        const float* part =
            static_cast<const float*>(args.workspace) + (place.batch * args.split_k * args.m + place.row) * ld + place.column;

        Vector<float, kVector> sum = {};
        if (exists) {
#pragma unroll 8
            for (int split = sharer; split < args.split_k; split += sharers) add(sum, load_vector<kVector>(part + split * args.m * ld));
        }
        if constexpr (sharers > 1) {
            store_vector(sums + sharer * config.block_n + vector * kVector, sum);
            // All shares are there before the first sharer adds them up.
            __syncthreads();
            if (sharer == 0) {
                sum = {};
#pragma unroll
                for (int together = 0; together < sharers; together += kAddedTogether) {
                    Vector<float, kVector> shares = {};
#pragma unroll
                    for (int other = together; other < together + kAddedTogether && other < sharers; ++other)
                        add(shares, load_vector<kVector>(sums + other * config.block_n + vector * kVector));
                    add(sum, shares);
                }
            }
            // The shares have been read before those of the next vectors overwrite them.
            __syncthreads();
        }
        if (exists && sharer == 0) {
            auto* c = static_cast<Element<signature.type_c>*>(args.c) + place.batch * args.stride_c + place.row * args.ldc + place.column;
            const i64 left = args.n - place.column;
            store_results<signature, kVector>(c, sum.element, alpha, beta, left < kVector ? static_cast<int>(left) : kVector);
        }
        first += i64{gridDim.x} * vectors;
        if (first < all) place = place_of(args, first + vector);
    }
}

}  // namespace tmm::reduce
