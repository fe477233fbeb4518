// The gemv family: few rows times a matrix of many columns, at the speed at which the matrix comes from memory. Nothing of it is
// used twice, so it goes straight into registers; a block divides K among its threads and adds their sums up at the end.
//
//   many stored along N (a thread owns neighbouring       many stored along K (a thread owns neighbouring k
//   columns; lanes run along N):                          of its columns; lanes run along K):
//
//             lane 0   lane 1   …                                   lane 0   lane 1   …
//      k   |  0 1 2 3 | 4 5 6 7 | …                      column  |  k..k+3 | +4..+7 | …
//      |   |  0 1 2 3 | 4 5 6 7 | …   4 k a thread         |     |  k..k+3 | +4..+7 | …   thread_n columns a thread
//      v   |    …                                          v     |    …
//
// With elements of 16 bits, of which an access brings 8, it is 8 k and up to 8 columns a thread. What is read stays as it lies in
// memory, half as wide as the floats that it becomes, until it is multiplied.
//
// The few rows are read by all threads again and again: they stay in the first-level cache.
#pragma once

#include "tmm/args.h"
#include "tmm/epilogue.cuh"
#include "tmm/gemv.h"
#include "tmm/previous_kernel.cuh"
#include "tmm/shared_memory.cuh"
#include "tmm/vector.cuh"

namespace tmm::gemv {

// Neighbouring elements as they lie in memory.
template <class T, int width>
struct Neighbours {
    T element[width];

    template <int access>
    __device__ void load(int first, const T* source) {
        const Vector<T, access> read = load_vector<access>(source + first);
#pragma unroll
        for (int i = 0; i < access; ++i) element[first + i] = read.element[i];
    }
    __device__ void set(int i, T value) {
        element[i] = value;
    }
    __device__ float operator[](int i) const {
        return to_float(element[i]);
    }
};

// Two elements of 16 bits share a word.
template <class T, int width>
requires(sizeof(T) == 2) struct Neighbours<T, width> {
    unsigned pair[(width + 1) / 2] = {};

    template <int access>
    __device__ void load(int first, const T* source) {
        if constexpr (access == 1) {
            set(first, source[first]);
        } else {
            const Vector<unsigned, access / 2> read = load_vector<access / 2>(reinterpret_cast<const unsigned*>(source + first));
#pragma unroll
            for (int i = 0; i < access / 2; ++i) pair[first / 2 + i] = read.element[i];
        }
    }
    __device__ void set(int i, T value) {
        const unsigned bits = value.bits;
        pair[i / 2] = i % 2 == 0 ? (pair[i / 2] & 0xffff0000u) | bits : (pair[i / 2] & 0xffffu) | bits << 16;
    }
    __device__ float operator[](int i) const {
        return i % 2 == 0 ? lower_to_float<T>(pair[i / 2]) : upper_to_float<T>(pair[i / 2]);
    }
};

// Up to `width` neighbouring elements, of which the first `valid` exist; the others are 0.
template <int alignment, int vector_width, bool guarded, class T, int width>
__device__ inline void load_neighbours(Neighbours<T, width>& values, const T* source, int valid) {
    constexpr int aligned = alignment / static_cast<int>(sizeof(T));
    constexpr int allowed = aligned < vector_width ? aligned : vector_width;
    constexpr int access = allowed < width ? allowed : width;
    if (!guarded || valid >= width) {
#pragma unroll
        for (int first = 0; first < width; first += access) values.template load<access>(first, source);
    } else {
#pragma unroll
        for (int i = 0; i < width; ++i) values.set(i, i < valid ? source[i] : T{});
    }
}

constexpr int clamp_to_int(i64 value) {
    return value > 1 << 30 ? 1 << 30 : value < 0 ? 0 : static_cast<int>(value);
}

template <KernelSignature signature, KernelConfig config>
__device__ void kernel(const GemmArgs& args) {
    static_assert(first_violation(config, signature) == nullptr);
    constexpr int rows = config.block_m;
    constexpr int columns = config.thread_n;
    constexpr int steps = k_step(config);
    // Phases whose loads all go out before the first multiplication.
    constexpr int together = config.stages;
    using T = Element<signature.type_a>;
    constexpr bool swapped = config.swap_ab != 0;
    constexpr bool along_k = many_along_k(config, signature);
    constexpr int align_few = swapped ? signature.align_b : signature.align_a;
    constexpr int align_many = swapped ? signature.align_a : signature.align_b;

    const i64 few_count = swapped ? args.n : args.m;
    const i64 many_count = swapped ? args.m : args.n;
    const i64 ld_few = swapped ? args.ldb : args.lda;
    const i64 ld_many = swapped ? args.lda : args.ldb;

    const i64 blocks_many = (many_count + config.block_n - 1) / config.block_n;
    const i64 blocks_few = (few_count + rows - 1) / rows;
    i64 rest = blockIdx.x;
    const i64 column0 = rest % blocks_many * config.block_n;
    rest /= blocks_many;
    const i64 row0 = rest % blocks_few * rows;
    rest /= blocks_few;
    const i64 split = rest % args.split_k;
    const i64 batch = rest / args.split_k;
    const T* few = static_cast<const T*>(swapped ? args.b : args.a) + batch * (swapped ? args.stride_b : args.stride_a);
    const T* many = static_cast<const T*>(swapped ? args.a : args.b) + batch * (swapped ? args.stride_a : args.stride_b);

    const int thread = static_cast<int>(threadIdx.x);
    const int thread_k = along_k ? thread % threads_k(config) : thread / threads_n(config);
    const int thread_n = along_k ? thread / threads_k(config) : thread % threads_n(config);
    const i64 column = column0 + thread_n * columns;
    const i64 k_begin = split * args.k_per_split;
    const i64 k_end = k_begin + args.k_per_split < args.k ? k_begin + args.k_per_split : args.k;

    float sums[rows][columns] = {};
    // A phase's share of many: a line for each column where they run along K, else for each k.
    struct Many {
        Neighbours<T, along_k ? steps : columns> lines[along_k ? columns : steps];
    };
    const auto load_many = [&]<bool guarded>(Many& read, i64 k) {
        const int k_valid = guarded ? clamp_to_int(k_end - k) : steps;
        const int columns_valid = guarded ? clamp_to_int(many_count - column) : columns;
        if constexpr (along_k) {
#pragma unroll
            for (int j = 0; j < columns; ++j)
                load_neighbours<align_many, config.vector_width, guarded>(read.lines[j], many + (column + j) * ld_many + k,
                                                                          !guarded || j < columns_valid ? k_valid : 0);
        } else {
#pragma unroll
            for (int step = 0; step < steps; ++step)
                load_neighbours<align_many, config.vector_width, guarded>(read.lines[step], many + (k + step) * ld_many + column,
                                                                          !guarded || step < k_valid ? columns_valid : 0);
        }
    };
    const auto multiply = [&]<bool guarded>(const Many& read, i64 k) {
        const int k_valid = guarded ? clamp_to_int(k_end - k) : steps;
#pragma unroll
        for (int i = 0; i < rows; ++i) {
            // Rows past the last repeat it; their sums are not stored.
            const i64 row = row0 + i < few_count ? row0 + i : few_count - 1;
            Neighbours<T, steps> few_values;
            if constexpr (few_along_k(config, signature)) {
                load_neighbours<align_few, config.vector_width, guarded>(few_values, few + row * ld_few + k, k_valid);
            } else {
#pragma unroll
                for (int step = 0; step < steps; ++step)
                    few_values.set(step, !guarded || step < k_valid ? few[(k + step) * ld_few + row] : T{});
            }
#pragma unroll
            for (int step = 0; step < steps; ++step) {
#pragma unroll
                for (int j = 0; j < columns; ++j)
                    sums[i][j] = fmaf(few_values[step], along_k ? read.lines[j][step] : read.lines[step][j], sums[i][j]);
            }
        }
    };
    const auto add_phase = [&]<bool guarded>(i64 k) {
        Many read;
        load_many.template operator()<guarded>(read, k);
        multiply.template operator()<guarded>(read, k);
    };
    const bool columns_inside = column + columns <= many_count;
    i64 k = k_begin + thread_k * steps;
    if constexpr (is_strip(config))
        begin_beside_previous_kernel();
    else
        wait_for_previous_kernel();
    if (config.boundary == boundary::exact || (config.boundary == boundary::peeled && columns_inside)) {
#pragma unroll 1
        for (; k + (together - 1) * config.block_k + steps <= k_end; k += together * config.block_k) {
            Many read[together];
#pragma unroll
            for (int phase = 0; phase < together; ++phase) load_many.template operator()<false>(read[phase], k + phase * config.block_k);
#pragma unroll
            for (int phase = 0; phase < together; ++phase) multiply.template operator()<false>(read[phase], k + phase * config.block_k);
        }
        if constexpr (together > 1) {
            for (; k + steps <= k_end; k += config.block_k) add_phase.template operator()<false>(k);
        }
    }
    if constexpr (config.boundary != boundary::exact) {
        for (; k < k_end; k += config.block_k) add_phase.template operator()<true>(k);
    }

    SharedMemory shared;
    constexpr int partials = partial_sums(config, signature);
    constexpr int partial_size = rows * config.block_n;
    float* partial = shared.take<float, partials * partial_size>()[0];
    if constexpr (along_k) {
        // A warp runs along K: its lanes' sums are added pairwise, and all lanes hold the result.
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
#pragma unroll
            for (int i = 0; i < rows; ++i) {
#pragma unroll
                for (int j = 0; j < columns; ++j) sums[i][j] += __shfl_xor_sync(0xffffffffu, sums[i][j], distance);
            }
        }
    }
    if (!along_k || thread % 32 == 0) {
#pragma unroll
        for (int i = 0; i < rows; ++i) {
#pragma unroll
            for (int j = 0; j < columns; ++j)
                partial[(along_k ? thread_k / 32 : thread_k) * partial_size + i * config.block_n + thread_n * columns + j] = sums[i][j];
        }
    }
    // Every thread's sums are there before they are added up.
    __syncthreads();

    constexpr bool to_workspace = config.split_k > 1;
    constexpr KernelSignature target = to_workspace ? partial_result_of(signature) : signature;
    const i64 ld = to_workspace ? workspace_ld(args.n) : args.ldc;
    using C = Element<target.type_c>;
    C* c = to_workspace ? static_cast<C*>(args.workspace) + (batch * args.split_k + split) * args.m * ld
                        : static_cast<C*>(args.c) + batch * args.stride_c;
    const float alpha = to_workspace ? 1.0f : static_cast<float>(args.alpha);
    const float beta = to_workspace ? 0.0f : static_cast<float>(args.beta);
    for (int element = thread; element < partial_size; element += threads(config)) {
        // Neighbouring threads store neighbouring elements of C.
        const int i = swapped ? element % rows : element / config.block_n;
        const int j = swapped ? element / rows : element % config.block_n;
        const i64 few_index = row0 + i;
        const i64 many_index = column0 + j;
        if (few_index < few_count && many_index < many_count) {
            float sum = partial[i * config.block_n + j];
            for (int p = 1; p < partials; ++p) sum += partial[p * partial_size + i * config.block_n + j];
            store_result<target>(c + (swapped ? many_index * ld + few_index : few_index * ld + many_index), sum, alpha, beta);
        }
    }
    if constexpr (is_strip(config)) end_after_previous_kernel();
}

}  // namespace tmm::gemv
