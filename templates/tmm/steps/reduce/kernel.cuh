// The second half of split-K: adds up the parts of each element in ascending order and applies the epilogue, so that the same
// inputs give the same bits. Where there are many parts, `sharers` threads take every sharers-th part of an element, and the
// first of them adds up what all found, some of them at a time.
#pragma once

#include "tmm/output/output.cuh"
#include "tmm/steps/reduce/rules.h"
#include "tmm/tile/previous_kernel.cuh"
#include "tmm/tile/shared_memory.cuh"
#include "tmm/tile/vector.cuh"
#include "tmm/vocabulary/args.h"

namespace tmm::reduce {

__device__ inline void add(Vector<float, kVector>& sum, const Vector<float, kVector>& value) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) sum.element[i] += value.element[i];
}

// The place where a block's columns begin.
struct Place {
    i64 batch;
    i64 row;
    i64 column;
};
template <Reduce step>
__device__ inline Place place_of(const GemmArgs& args, i64 block) {
    const i64 blocks_n = (args.n + step.columns - 1) / step.columns;
    return {block / (args.m * blocks_n), block / blocks_n % args.m, block % blocks_n * step.columns};
}

template <KernelSignature signature, Reduce step>
__device__ void kernel(const GemmArgs& args) {
    static_assert(first_violation(step, signature) == nullptr);
    constexpr int vectors = step.columns / kVector;
    constexpr int sharers = step.sharers;
    const int vector = static_cast<int>(threadIdx.x) % vectors;
    const int sharer = static_cast<int>(threadIdx.x) / vectors;
    const i64 ld = workspace_ld(args.n);
    const i64 blocks = args.batch * args.m * ((args.n + step.columns - 1) / step.columns);
    const OutputScalars scalars = output_scalars(args);
    SharedMemory shared;
    float* sums = shared.take<float, sharers * step.columns>()[0];

    // The block's first place is found while the kernel before this one ends.
    Place place = place_of<step>(args, blockIdx.x);
    wait_for_previous_kernel();
    for (i64 block = blockIdx.x; block < blocks;) {
        const i64 column = place.column + vector * kVector;
        // Rows are padded to whole vectors, so that a vector either exists or does not.
        const bool exists = column < args.n;
        const float* part = static_cast<const float*>(args.workspace) + (place.batch * args.split_k * args.m + place.row) * ld + column;

        Vector<float, kVector> sum = {};
        if (exists) {
#pragma unroll 8
            for (int split = sharer; split < args.split_k; split += sharers) add(sum, load_vector<kVector>(part + split * args.m * ld));
        }
        if constexpr (sharers > 1) {
            store_vector(sums + sharer * step.columns + vector * kVector, sum);
            // All shares are there before the first sharer adds them up.
            __syncthreads();
            if (sharer == 0) {
                sum = {};
#pragma unroll
                for (int first = 0; first < sharers; first += kAddedTogether) {
                    Vector<float, kVector> shares = {};
#pragma unroll
                    for (int other = first; other < first + kAddedTogether && other < sharers; ++other)
                        add(shares, load_vector<kVector>(sums + other * step.columns + vector * kVector));
                    add(sum, shares);
                }
            }
            // The shares have been read before the next block of columns overwrites them.
            __syncthreads();
        }
        if (exists && sharer == 0) {
            output_to_c<signature>(args, scalars, place.batch).template store_to_row<kVector>(place.row, column, sum.element);
        }
        block += gridDim.x;
        if (block < blocks) place = place_of<step>(args, block);
    }
}

}  // namespace tmm::reduce
