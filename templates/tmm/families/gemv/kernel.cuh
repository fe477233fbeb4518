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

#include "tmm/copy/previous_kernel.cuh"
#include "tmm/copy/shared_memory.cuh"
#include "tmm/families/gemv/products.cuh"
#include "tmm/families/gemv/rules.h"
#include "tmm/output/few_by_many.cuh"
#include "tmm/vocabulary/args.h"

namespace tmm::gemv {

template <class Kernel>
__device__ void kernel(const GemmArgs& args) {
    static_assert(first_violation(Kernel::config, Kernel::signature) == nullptr);
    using O = Operands<Kernel>;
    using T = typename O::T;
    constexpr int steps = O::steps;
    // Phases whose loads all go out before the first multiplication.
    constexpr int together = Kernel::config.stages;
    const O operands(args);
    Sums<Kernel> sums;
    const FewByMany& place = operands.place;
    const int thread_k = operands.thread_k;
    const i64 column = operands.column;
    const i64 k_begin = operands.k_begin;
    const i64 k_end = operands.k_end;

    // The steps, the same for all threads that share columns.
    i64 begin = k_begin;
    i64 last = k_end - steps;
    bool takes_steps = Kernel::config.boundary == boundary::exact ||
                       (Kernel::config.boundary == boundary::peeled && (O::along_k || column + O::columns <= place.many_count));
    if constexpr (O::many_in_chunks) {
        const ReadableInChunks<T, O::along_k, steps> chunks{operands.many, operands.ld_many, place.many_count,
                                                            args.k,        column,           column + O::columns};
        takes_steps = takes_steps && (O::along_k || chunks.lines_are_long());
        if (!chunks.from(k_begin)) begin = k_begin + steps;
        if (chunks.last() < last) last = chunks.last();
    }
    if constexpr (O::few_in_chunks) {
        const ReadableInChunks<T, true, steps> chunks{operands.few, operands.ld_few, place.few_count,
                                                      args.k,       place.row0,      place.row0 + O::rows};
        if (!chunks.from(k_begin)) begin = k_begin + steps;
        if (chunks.last() < last) last = chunks.last();
    }
    if (begin > k_end) begin = k_end;
    const i64 end = last < begin ? begin : begin + ((last - begin) / steps + 1) * steps;
    // The k before and behind the steps, if there can be any.
    constexpr bool has_singles = Kernel::config.boundary != boundary::exact || O::many_in_chunks || O::few_in_chunks;
    const i64 before = begin - k_begin;
    const i64 singles = before + (k_end - end);
    const auto single_k = [&](i64 number) { return number < before ? k_begin + number : end + number - before; };

    if constexpr (is_strip(Kernel::config))
        begin_beside_previous_kernel();
    else
        wait_for_previous_kernel();
    if (takes_steps) {
        SingleK<Kernel> first = {};
        if (has_singles && thread_k < singles) first.load(operands, single_k(thread_k));
        i64 k = begin + thread_k * steps;
#pragma unroll 1
        for (; k + (together - 1) * Kernel::config.block_k < end; k += together * Kernel::config.block_k) {
            Many<Kernel> many[together];
#pragma unroll
            for (int phase = 0; phase < together; ++phase) many[phase].load(operands, k + phase * Kernel::config.block_k);
#pragma unroll
            for (int phase = 0; phase < together; ++phase) sums.add_step(operands, many[phase], k + phase * Kernel::config.block_k);
        }
        if constexpr (together > 1) {
            for (; k < end; k += Kernel::config.block_k) {
                Many<Kernel> many;
                many.load(operands, k);
                sums.add_step(operands, many, k);
            }
        }
        if constexpr (has_singles) {
            sums.add_single(first);
#pragma unroll 1
            for (i64 number = thread_k + threads_k(Kernel::config); number < singles; number += threads_k(Kernel::config)) {
                SingleK<Kernel> single;
                single.load(operands, single_k(number));
                sums.add_single(single);
            }
        }
    } else if constexpr (Kernel::config.boundary == boundary::guarded ||
                         (!O::along_k && (Kernel::config.boundary == boundary::peeled || O::many_in_chunks))) {
        for (i64 k = k_begin + thread_k * steps; k < k_end; k += Kernel::config.block_k) sums.add_guarded_step(operands, k);
    }

    SharedMemory shared;
    constexpr int partials = partial_sums(Kernel::config, Kernel::signature);
    constexpr int partial_size = O::rows * Kernel::config.block_n;
    SumOf<Kernel>* const partial = shared.take<SumOf<Kernel>, partials * partial_size>()[0];
    if constexpr (O::along_k) sums.add_up_warp();
    if (!O::along_k || threadIdx.x % 32 == 0) {
#pragma unroll
        for (int i = 0; i < O::rows; ++i) {
#pragma unroll
            for (int j = 0; j < O::columns; ++j)
                partial[(O::along_k ? thread_k / 32 : thread_k) * partial_size + i * Kernel::config.block_n +
                        operands.thread_n * O::columns + j] = sums.at(i, j);
        }
    }
    // Every thread's sums are there before they are added up.
    __syncthreads();

    store_sums_of_parts<Kernel, partials, threads(Kernel::config)>(args, operands.place, partial);
    if constexpr (is_strip(Kernel::config)) end_after_previous_kernel();
}

}  // namespace tmm::gemv
