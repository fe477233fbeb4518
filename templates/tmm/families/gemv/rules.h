// This file says what a gemv kernel needs and allows (kernel.cuh). It knows the operands by size (few_by_many.h).
#pragma once

#include "tmm/copy/shared_layout.h"
#include "tmm/number/arithmetic.h"
#include "tmm/schedule/few_by_many.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm::gemv {

// Neighbouring k that a thread takes at once: as many as its widest access brings, and 4 at least.
constexpr int k_step(const KernelConfig& c) {
    return c.vector_width > 4 ? c.vector_width : 4;
}

// Does each row of few run along K in memory? Does each column of many?
constexpr bool few_along_k(const KernelConfig& c, const KernelSignature& s) {
    return c.swap_ab ? s.op_b == Operation::transpose : s.op_a == Operation::none;
}
constexpr bool many_along_k(const KernelConfig& c, const KernelSignature& s) {
    return c.swap_ab ? s.op_a == Operation::none : s.op_b == Operation::transpose;
}

// Do so many neighbours of elements that start anywhere come in the chunks of 16 bytes that hold them (kernel.cuh)? Then an access would
// bring as many, were they aligned.
constexpr bool comes_in_chunks(const KernelConfig& c, ElementType type, int alignment, int neighbours) {
    return alignment < 16 && (size_of(type) == 4 || is_16_bit(type)) && neighbours * size_of(type) == 16 && c.vector_width == neighbours;
}

// Does the kernel compute a strip of C that another kernel of its plan leaves, and does it run at the same time as that kernel?
constexpr bool is_strip(const KernelConfig& c) {
    return c.trim != 0;
}

constexpr int threads_n(const KernelConfig& c) {
    return c.block_n / c.thread_n;
}
constexpr int threads_k(const KernelConfig& c) {
    return c.block_k / k_step(c);
}
constexpr int threads(const KernelConfig& c) {
    return threads_n(c) * threads_k(c);
}

// Partial sums of an element that meet in shared memory: where columns run along K a warp has added up its own before.
constexpr int partial_sums(const KernelConfig& c, const KernelSignature& s) {
    return many_along_k(c, s) ? threads_k(c) / 32 : threads_k(c);
}
constexpr i64 shared_bytes(const KernelConfig& c, const KernelSignature& s) {
    return shared_tile_bytes(sum_type(s), partial_sums(c, s) * c.block_m * c.block_n);
}

// Do so many neighbours make one access, or four elements?
constexpr bool can_be_neighbours(int elements, ElementType type) {
    const int widest = 16 / size_of(type) > 4 ? 16 / size_of(type) : 4;
    return elements >= 1 && elements <= widest && (elements & (elements - 1)) == 0;
}

constexpr const char* first_violation(const KernelConfig& c, const KernelSignature& s) {
    if (const char* violation = converted_types_violation(s)) return violation;
    if (c.block_m < 1 || c.block_m > 16) return "gemv's block_m, the rows it holds, is 1 to 16";
    if (!can_be_neighbours(c.thread_n, s.type_a)) return "gemv's thread_n is 1, 2 or 4, with elements of 16 bits 8, too, of 8 bits 16";
    if (!can_be_neighbours(c.vector_width, s.type_a)) return "vector_width is 1, 2 or 4, with elements of 16 bits 8, too, of 8 bits 16";
    if (c.block_n < 1 || c.block_n % c.thread_n != 0) return "block_n must be a multiple of thread_n";
    if (c.block_k < k_step(c) || c.block_k % k_step(c) != 0)
        return "gemv's block_k is a multiple of the k that a thread takes at once: 4, with vector_width 8 or 16 as many";
    if (threads(c) % 32 != 0 || threads(c) > 1024)
        return "block_n / thread_n * block_k / 4 (or / vector_width from 8 on) is the block's threads: whole warps, up to 1024";
    if (many_along_k(c, s) && threads_k(c) % 32 != 0)
        return "where columns run along K, warps do: block_k is a multiple of 128, with vector_width 8 of 256, with 16 of 512";
    if (c.stages < 1 || c.stages > 8) return "stages, the phases whose loads are under way together, is 1 to 8";
    if (c.boundary != boundary::exact && c.boundary != boundary::guarded && c.boundary != boundary::peeled)
        return "gemv's boundary mode is exact, guarded or peeled";
    if (c.split_k < 1 || c.split_k > 1024) return "split_k is 1 to 1024";
    if (c.swap_ab != 0 && c.swap_ab != 1) return "swap_ab is 0 or 1";
    if (c.trim != 0 && c.trim != 1) return "trim is 0 or 1";
    return nullptr;
}

constexpr i64 blocks(const KernelConfig& c, i64 m, i64 n, i64 batch) {
    return blocks_few_by_many(c, m, n, batch);
}

// The most k that a thread takes one by one: a step before the steps and less than two chunks behind them, of all threads along K.
constexpr i64 most_singles(const KernelConfig& c) {
    return (3 * k_step(c) + threads_k(c) - 1) / threads_k(c);
}
constexpr i64 longest_chain(const KernelConfig& c, i64 k) {
    return (k + c.block_k - 1) / c.block_k * k_step(c) + most_singles(c) + 5 + threads_k(c);
}

}  // namespace tmm::gemv
