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
// memory (lines.cuh), half as wide as the floats that it becomes, until it is multiplied.
//
// K is taken in steps of neighbouring k. What is left of it at its ends, less than a step or where a thread would read beyond the matrix,
// is taken k by k, each by another thread, and read before all steps, so that nobody waits for it:
//
//         | k, k, … | step | step | step | … | k, k, k, … |
//
// The few rows are read by all threads again and again: they stay in the first-level cache.
#pragma once

#include "tmm/families/gemv/lines.cuh"
#include "tmm/families/gemv/rules.h"
#include "tmm/output/few_by_many.cuh"
#include "tmm/tile/previous_kernel.cuh"
#include "tmm/tile/shared_memory.cuh"
#include "tmm/vocabulary/args.h"

namespace tmm::gemv {

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

    const i64 ld_few = swapped ? args.ldb : args.lda;
    const i64 ld_many = swapped ? args.lda : args.ldb;
    const FewByMany place = place_of_block<config>(args);
    const i64 few_count = place.few_count;
    const i64 many_count = place.many_count;
    const T* few = static_cast<const T*>(swapped ? args.b : args.a) + place.batch * (swapped ? args.stride_b : args.stride_a);
    const T* many = static_cast<const T*>(swapped ? args.a : args.b) + place.batch * (swapped ? args.stride_a : args.stride_b);

    const int thread = static_cast<int>(threadIdx.x);
    const int thread_k = along_k ? thread % threads_k(config) : thread / threads_n(config);
    const int thread_n = along_k ? thread / threads_k(config) : thread % threads_n(config);
    const i64 column = place.column0 + thread_n * columns;
    const i64 k_begin = place.split * args.k_per_split;
    const i64 k_end = k_begin + args.k_per_split < args.k ? k_begin + args.k_per_split : args.k;

    float sums[rows][columns] = {};
    // A thread's share of many in a phase: a line for each column where they run along K, else for each k.
    constexpr int neighbours = along_k ? steps : columns;
    constexpr int lines = along_k ? columns : steps;
    constexpr bool many_in_chunks = comes_in_chunks(config, signature.type_a, align_many, neighbours);
    constexpr bool few_in_chunks = few_along_k(config, signature) && comes_in_chunks(config, signature.type_a, align_few, steps);
    using LineOfMany = Line<T, neighbours, align_many, config.vector_width, many_in_chunks>;
    using LineOfFew = Line<T, steps, align_few, config.vector_width, few_in_chunks>;
    // Rows, and columns that are lines, repeat the last one past it; their sums are not stored.
    const auto many_at = [&](i64 k, int line) {
        if constexpr (!along_k) return many + (k + line) * ld_many + column;
        return many + (column + line < many_count ? column + line : many_count - 1) * ld_many + k;
    };
    const auto few_at = [&](i64 k, int i) {
        const i64 row = place.row0 + i < few_count ? place.row0 + i : few_count - 1;
        return few + (few_along_k(config, signature) ? row * ld_few + k : k * ld_few + row);
    };

    struct Many {
        LineOfMany lines[along_k ? columns : steps];
    };
    struct ManyInPlace {
        Neighbours<T, neighbours> lines[along_k ? columns : steps];
    };
    const auto load_many = [&](Many& read, i64 k) {
#pragma unroll
        for (int line = 0; line < lines; ++line) read.lines[line].load(many_at(k, line));
    };
    // guarded: K ends within the step, or the columns do.
    const auto multiply = [&]<bool guarded>(const ManyInPlace& of_many, i64 k) {
        const int k_valid = guarded ? clamp_to_int(k_end - k) : steps;
#pragma unroll
        for (int i = 0; i < rows; ++i) {
            Neighbours<T, steps> of_few;
            if constexpr (!few_along_k(config, signature)) {
#pragma unroll
                for (int step = 0; step < steps; ++step) of_few.set(step, !guarded || step < k_valid ? *few_at(k + step, i) : T{});
            } else if constexpr (guarded) {
                load_neighbours<align_few, config.vector_width, true>(of_few, few_at(k, i), k_valid);
            } else {
                LineOfFew line;
                line.load(few_at(k, i));
                of_few = line.in_place(few_at(k, i));
            }
#pragma unroll
            for (int step = 0; step < steps; ++step) {
#pragma unroll
                for (int j = 0; j < columns; ++j)
                    sums[i][j] = fmaf(of_few[step], along_k ? of_many.lines[j][step] : of_many.lines[step][j], sums[i][j]);
            }
        }
    };
    const auto add_step = [&](const Many& read, i64 k) {
        ManyInPlace of_many;
#pragma unroll
        for (int line = 0; line < lines; ++line) of_many.lines[line] = read.lines[line].in_place(many_at(k, line));
        multiply.template operator()<false>(of_many, k);
    };
    const auto add_guarded_step = [&](i64 k) {
        const int k_valid = clamp_to_int(k_end - k);
        const int columns_valid = clamp_to_int(many_count - column);
        ManyInPlace of_many;
#pragma unroll
        for (int line = 0; line < lines; ++line) {
            const int valid = along_k ? k_valid : line < k_valid ? columns_valid : 0;
            load_neighbours<align_many, config.vector_width, true>(of_many.lines[line], many_at(k, line), valid);
        }
        multiply.template operator()<true>(of_many, k);
    };
    struct SingleK {
        T of_few[rows];
        T of_many[columns];
    };
    const auto load_single = [&](i64 k) {
        SingleK read;
#pragma unroll
        for (int i = 0; i < rows; ++i) read.of_few[i] = *few_at(k, i);
#pragma unroll
        for (int j = 0; j < columns; ++j) read.of_many[j] = along_k ? *many_at(k, j) : many_at(k, 0)[j];
        return read;
    };
    const auto add_single = [&](const SingleK& read) {
#pragma unroll
        for (int i = 0; i < rows; ++i) {
#pragma unroll
            for (int j = 0; j < columns; ++j) sums[i][j] = fmaf(to_float(read.of_few[i]), to_float(read.of_many[j]), sums[i][j]);
        }
    };

    // The steps, the same for all threads that share columns.
    i64 begin = k_begin;
    i64 last = k_end - steps;
    bool takes_steps =
        config.boundary == boundary::exact || (config.boundary == boundary::peeled && (along_k || column + columns <= many_count));
    if constexpr (many_in_chunks) {
        const ReadableInChunks<T, along_k, steps> chunks{many, ld_many, many_count, args.k, column, column + columns};
        takes_steps = takes_steps && (along_k || chunks.lines_are_long());
        if (!chunks.from(k_begin)) begin = k_begin + steps;
        if (chunks.last() < last) last = chunks.last();
    }
    if constexpr (few_in_chunks) {
        const ReadableInChunks<T, true, steps> chunks{few, ld_few, few_count, args.k, place.row0, place.row0 + rows};
        if (!chunks.from(k_begin)) begin = k_begin + steps;
        if (chunks.last() < last) last = chunks.last();
    }
    if (begin > k_end) begin = k_end;
    const i64 end = last < begin ? begin : begin + ((last - begin) / steps + 1) * steps;
    // The k before and behind the steps, if there can be any.
    constexpr bool has_singles = config.boundary != boundary::exact || many_in_chunks || few_in_chunks;
    const i64 before = begin - k_begin;
    const i64 singles = before + (k_end - end);
    const auto single_k = [&](i64 number) { return number < before ? k_begin + number : end + number - before; };

    if constexpr (is_strip(config))
        begin_beside_previous_kernel();
    else
        wait_for_previous_kernel();
    if (takes_steps) {
        SingleK first = {};
        if (has_singles && thread_k < singles) first = load_single(single_k(thread_k));
        i64 k = begin + thread_k * steps;
#pragma unroll 1
        for (; k + (together - 1) * config.block_k < end; k += together * config.block_k) {
            Many read[together];
#pragma unroll
            for (int phase = 0; phase < together; ++phase) load_many(read[phase], k + phase * config.block_k);
#pragma unroll
            for (int phase = 0; phase < together; ++phase) add_step(read[phase], k + phase * config.block_k);
        }
        if constexpr (together > 1) {
            for (; k < end; k += config.block_k) {
                Many read;
                load_many(read, k);
                add_step(read, k);
            }
        }
        if constexpr (has_singles) {
            add_single(first);
#pragma unroll 1
            for (i64 number = thread_k + threads_k(config); number < singles; number += threads_k(config))
                add_single(load_single(single_k(number)));
        }
    } else if constexpr (config.boundary == boundary::guarded || (!along_k && (config.boundary == boundary::peeled || many_in_chunks))) {
        for (i64 k = k_begin + thread_k * steps; k < k_end; k += config.block_k) add_guarded_step(k);
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

    store_sums_of_parts<signature, config, partials, threads(config)>(args, place, partial);
    if constexpr (is_strip(config)) end_after_previous_kernel();
}

}  // namespace tmm::gemv
