// The second half of split-K: adds up the parts of each element in ascending order and applies the epilogue, so that the same
// inputs give the same bits. A gate takes an element of each half of the columns, or rows. Where there are many parts, `sharers` threads
// take every sharers-th part of an element, and the first of them adds up what all found, some of them at a time. Where one triangle of C
// is wanted, parts of the other are not there.
#pragma once

#include "tmm/copy/previous_kernel.cuh"
#include "tmm/copy/shared_memory.cuh"
#include "tmm/copy/vector.cuh"
#include "tmm/output/output.cuh"
#include "tmm/steps/reduce/rules.h"
#include "tmm/vocabulary/args.h"

namespace tmm::reduce {

template <class Kernel>
using VectorOf = Vector<SumOf<Kernel>, kVector>;

template <class Sum>
__device__ inline void add(Vector<Sum, kVector>& sum, const Vector<Sum, kVector>& value) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) sum.element[i] += value.element[i];
}

// The place where a block's columns of C begin.
struct Place {
    i64 batch;
    i64 row;
    i64 column;
};
template <class Kernel>
__device__ inline Place place_of(i64 rows, i64 columns, i64 block) {
    const i64 blocks_n = (columns + Kernel::step.columns - 1) / Kernel::step.columns;
    return {block / (rows * blocks_n), block / blocks_n % rows, block % blocks_n * Kernel::step.columns};
}

// Loads the vector's sums that exist, of which the first may stand anywhere in a row.
template <class Sum>
__device__ inline Vector<Sum, kVector> load_existing(const Sum* sums, i64 existing) {
    Vector<Sum, kVector> vector = {};
#pragma unroll
    for (int i = 0; i < kVector; ++i)
        if (i < existing) vector.element[i] = sums[i];
    return vector;
}

// Adds up the parts of a vector of sums; all threads of the block call this, and the first sharer gets the sum. vector, sharer: which ones
// the thread is; exists: the vector does; load(split): what a part holds of it.
template <class Kernel, class Load>
__device__ inline VectorOf<Kernel> sum_of_vector(int split_k, int vector, int sharer, bool exists, SumOf<Kernel>* shares_of_block,
                                                 Load&& load) {
    constexpr int sharers = Kernel::step.sharers;
    VectorOf<Kernel> sum = {};
    if (exists) {
#pragma unroll 8
        for (int split = sharer; split < split_k; split += sharers) add(sum, load(split));
    }
    if constexpr (sharers > 1) {
        store_vector(shares_of_block + sharer * Kernel::step.columns + vector * kVector, sum);
        // All shares are there before the first sharer adds them up.
        __syncthreads();
        if (sharer == 0) {
            sum = {};
#pragma unroll
            for (int first = 0; first < sharers; first += kAddedTogether) {
                VectorOf<Kernel> shares = {};
#pragma unroll
                for (int other = first; other < first + kAddedTogether && other < sharers; ++other)
                    add(shares, load_vector<kVector>(shares_of_block + other * Kernel::step.columns + vector * kVector));
                add(sum, shares);
            }
        }
        // The shares have been read before the next ones overwrite them.
        __syncthreads();
    }
    return sum;
}

template <class Kernel>
__device__ void kernel(const GemmArgs& args) {
    static_assert(first_violation(Kernel::step, Kernel::signature) == nullptr);
    constexpr int vectors = Kernel::step.columns / kVector;
    const int vector = static_cast<int>(threadIdx.x) % vectors;
    const int sharer = static_cast<int>(threadIdx.x) / vectors;
    const i64 columns = columns_of_c<Kernel>(args);
    const i64 ld = workspace_ld(args.n);
    const i64 blocks = args.batch * rows_of_c<Kernel>(args) * ((columns + Kernel::step.columns - 1) / Kernel::step.columns);
    using Sum = SumOf<Kernel>;
    const OutputScalars<Kernel> scalars = output_scalars<Kernel>(args);
    SharedMemory shared;
    Sum* const shares = shared.take<Sum, Kernel::step.sharers * Kernel::step.columns>()[0];

    // The block's first place is found while the kernel before this one ends.
    Place place = place_of<Kernel>(rows_of_c<Kernel>(args), columns, blockIdx.x);
    wait_for_previous_kernel();
    for (i64 block = blockIdx.x; block < blocks;) {
        const i64 column = place.column + vector * kVector;
        // Rows are padded to whole vectors, so that a vector either exists or does not.
        const bool exists = column < columns && any_wanted(Kernel::signature.result, place.row, column, kVector);
        const Sum* const part = static_cast<const Sum*>(args.workspace) + (place.batch * args.split_k * args.m + place.row) * ld + column;
        VectorOf<Kernel> sum = sum_of_vector<Kernel>(args.split_k, vector, sharer, exists, shares,
                                                     [&](int split) { return load_vector<kVector>(part + split * args.m * ld); });
        if constexpr (is_gate(Kernel::signature.activation)) {
            constexpr bool of_rows = gates_rows(Kernel::signature.activation);
            // The other half of the columns begins anywhere.
            const bool aligned = of_rows || columns % kVector == 0;
            const i64 half = of_rows ? rows_of_c<Kernel>(args) * ld : columns;
            const VectorOf<Kernel> values = sum_of_vector<Kernel>(args.split_k, vector, sharer, exists, shares, [&](int split) {
                const Sum* const from = part + half + split * args.m * ld;
                return aligned ? load_vector<kVector>(from) : load_existing(from, columns - column);
            });
#pragma unroll
            for (int i = 0; i < kVector; ++i)
                sum.element[i] = gated<Kernel>(args, place.row, within<Kernel>(column + i, columns), sum.element[i], values.element[i]);
        }
        if (exists && sharer == 0)
            output_to_c<Kernel>(args, scalars, place.batch).template store_to_row<kVector>(place.row, column, sum.element);
        block += gridDim.x;
        if (block < blocks) place = place_of<Kernel>(rows_of_c<Kernel>(args), columns, block);
    }
}

}  // namespace tmm::reduce
