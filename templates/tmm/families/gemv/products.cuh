// This file says what a thread of gemv reads, and what it multiplies: its rows of few with its columns of many.
#pragma once

#include "tmm/copy/batch.cuh"
#include "tmm/families/gemv/lines.cuh"
#include "tmm/families/gemv/rules.h"
#include "tmm/output/few_by_many.cuh"
#include "tmm/vocabulary/args.h"

namespace tmm::gemv {

constexpr int clamp_to_int(i64 value) {
    return value > 1 << 30 ? 1 << 30 : value < 0 ? 0 : static_cast<int>(value);
}

// The block's matrices, and the thread's place in them.
template <class Kernel>
struct Operands {
    static constexpr bool swapped = Kernel::config.swap_ab != 0;
    static constexpr bool along_k = many_along_k(Kernel::config, Kernel::signature);
    static constexpr int align_few = swapped ? Kernel::signature.align_b : Kernel::signature.align_a;
    static constexpr int align_many = swapped ? Kernel::signature.align_a : Kernel::signature.align_b;
    static constexpr int rows = Kernel::config.block_m;
    static constexpr int columns = Kernel::config.thread_n;
    static constexpr int steps = k_step(Kernel::config);
    // A thread's share of many in a phase: a line for each column where they run along K, else for each k.
    static constexpr int neighbours = along_k ? steps : columns;
    static constexpr int lines = along_k ? columns : steps;
    static constexpr bool many_in_chunks = comes_in_chunks(Kernel::config, Kernel::signature.type_a, align_many, neighbours);
    static constexpr bool few_in_chunks =
        few_along_k(Kernel::config, Kernel::signature) && comes_in_chunks(Kernel::config, Kernel::signature.type_a, align_few, steps);
    using T = ElementOfA<Kernel>;

    i64 ld_few;
    i64 ld_many;
    FewByMany place;
    const T* few;
    const T* many;
    // The thread's place among those that share columns, and among those that share k; its first column.
    int thread_k;
    int thread_n;
    i64 column;
    i64 k_begin;
    i64 k_end;

    __device__ explicit Operands(const GemmArgs& args)
        : ld_few(swapped ? args.ldb : args.lda),
          ld_many(swapped ? args.lda : args.ldb),
          place(place_of_block<Kernel>(args)),
          few(swapped ? matrix_b<Kernel>(args, place.batch) : matrix_a<Kernel>(args, place.batch)),
          many(swapped ? matrix_a<Kernel>(args, place.batch) : matrix_b<Kernel>(args, place.batch)),
          thread_k(along_k ? static_cast<int>(threadIdx.x) % threads_k(Kernel::config)
                           : static_cast<int>(threadIdx.x) / threads_n(Kernel::config)),
          thread_n(along_k ? static_cast<int>(threadIdx.x) / threads_k(Kernel::config)
                           : static_cast<int>(threadIdx.x) % threads_n(Kernel::config)),
          column(place.column0 + thread_n * columns),
          k_begin(place.split * args.k_per_split),
          k_end(k_begin + args.k_per_split < args.k ? k_begin + args.k_per_split : args.k) {}

    // Rows, and columns that are lines, repeat the last one past it; their sums are not stored.
    __device__ const T* many_at(i64 at_k, int line) const {
        if constexpr (!along_k) return many + (at_k + line) * ld_many + column;
        return many + (column + line < place.many_count ? column + line : place.many_count - 1) * ld_many + at_k;
    }
    __device__ const T* few_at(i64 at_k, int i) const {
        const i64 row = place.row0 + i < place.few_count ? place.row0 + i : place.few_count - 1;
        return few + (few_along_k(Kernel::config, Kernel::signature) ? row * ld_few + at_k : at_k * ld_few + row);
    }
};

// The thread's share of many in one phase, as it comes from memory.
template <class Kernel>
struct Many {
    using O = Operands<Kernel>;
    Line<typename O::T, O::neighbours, O::align_many, Kernel::config.vector_width, O::many_in_chunks> lines[O::lines];

    __device__ void load(const O& operands, i64 k) {
#pragma unroll
        for (int line = 0; line < O::lines; ++line) lines[line].load(operands.many_at(k, line));
    }
};

// What the thread multiplies of a k that belongs to no step.
template <class Kernel>
struct SingleK {
    using O = Operands<Kernel>;
    typename O::T of_few[O::rows];
    typename O::T of_many[O::columns];

    __device__ void load(const O& operands, i64 k) {
#pragma unroll
        for (int i = 0; i < O::rows; ++i) of_few[i] = *operands.few_at(k, i);
#pragma unroll
        for (int j = 0; j < O::columns; ++j) of_many[j] = O::along_k ? *operands.many_at(k, j) : operands.many_at(k, 0)[j];
    }
};

// The sums of the thread's rows and columns.
template <class Kernel>
class Sums {
    using O = Operands<Kernel>;
    using T = typename O::T;
    using Sum = SumOf<Kernel>;

public:
    __device__ void add_step(const O& operands, const Many<Kernel>& many, i64 k) {
        ManyInPlace of_many;
#pragma unroll
        for (int line = 0; line < O::lines; ++line) of_many.lines[line] = many.lines[line].in_place(operands.many_at(k, line));
        multiply<false>(operands, of_many, k);
    }
    // K ends within the step, or the columns do.
    __device__ void add_guarded_step(const O& operands, i64 k) {
        const int k_valid = clamp_to_int(operands.k_end - k);
        const int columns_valid = clamp_to_int(operands.place.many_count - operands.column);
        ManyInPlace of_many;
#pragma unroll
        for (int line = 0; line < O::lines; ++line) {
            const int valid = O::along_k ? k_valid : line < k_valid ? columns_valid : 0;
            load_neighbours<O::align_many, Kernel::config.vector_width, true>(of_many.lines[line], operands.many_at(k, line), valid);
        }
        multiply<true>(operands, of_many, k);
    }
    __device__ void add_single(const SingleK<Kernel>& read) {
#pragma unroll
        for (int i = 0; i < O::rows; ++i) {
#pragma unroll
            for (int j = 0; j < O::columns; ++j)
                of_[i][j] = multiply_add(to_number<Sum>(read.of_few[i]), to_number<Sum>(read.of_many[j]), of_[i][j]);
        }
    }
    // A warp runs along K: its lanes' sums are added pairwise, and all lanes hold the result.
    __device__ void add_up_warp() {
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
#pragma unroll
            for (int i = 0; i < O::rows; ++i) {
#pragma unroll
                for (int j = 0; j < O::columns; ++j) of_[i][j] += __shfl_xor_sync(0xffffffffu, of_[i][j], distance);
            }
        }
    }
    __device__ Sum at(int i, int j) const {
        return of_[i][j];
    }

private:
    struct ManyInPlace {
        Neighbours<T, O::neighbours> lines[O::lines];

        __device__ Sum number(int step, int column) const {
            return O::along_k ? lines[column].template number<Sum>(step) : lines[step].template number<Sum>(column);
        }
    };

    template <bool guarded>
    __device__ void read_few(const O& operands, Neighbours<T, O::steps>& of_few, i64 k, int i, int k_valid) const {
        if constexpr (!few_along_k(Kernel::config, Kernel::signature)) {
#pragma unroll
            for (int step = 0; step < O::steps; ++step) of_few.set(step, !guarded || step < k_valid ? *operands.few_at(k + step, i) : T{});
        } else if constexpr (guarded) {
            load_neighbours<O::align_few, Kernel::config.vector_width, true>(of_few, operands.few_at(k, i), k_valid);
        } else {
            Line<T, O::steps, O::align_few, Kernel::config.vector_width, O::few_in_chunks> line;
            line.load(operands.few_at(k, i));
            of_few = line.in_place(operands.few_at(k, i));
        }
    }

    template <bool guarded>
    __device__ void multiply(const O& operands, const ManyInPlace& of_many, i64 k) {
        const int k_valid = guarded ? clamp_to_int(operands.k_end - k) : O::steps;
#pragma unroll
        for (int i = 0; i < O::rows; ++i) {
            Neighbours<T, O::steps> of_few;
            read_few<guarded>(operands, of_few, k, i, k_valid);
#pragma unroll
            for (int step = 0; step < O::steps; ++step) {
#pragma unroll
                for (int j = 0; j < O::columns; ++j)
                    of_[i][j] = multiply_add(of_few.template number<Sum>(step), of_many.number(step, j), of_[i][j]);
            }
        }
    }

    Sum of_[O::rows][O::columns] = {};
};

}  // namespace tmm::gemv
