// This file is shared by families that know the operands by size, and not as A and B: "few" has the few rows, "many" the many columns of
// few * many. With swap_ab = 0 few is op(A) and many op(B); with swap_ab = 1 the kernel computes the transpose of C, few is op(B)
// transposed and many op(A) transposed. A block has block_m rows of few and block_n columns of many.
#pragma once

#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// How many rows few has, in a product of m x n, and how many columns many has.
constexpr i64 few_count(const KernelConfig& c, i64 m, i64 n) {
    return c.swap_ab ? n : m;
}
constexpr i64 many_count(const KernelConfig& c, i64 m, i64 n) {
    return c.swap_ab ? m : n;
}

// Blocks, or tiles, along the rows of few and along the columns of many.
constexpr i64 blocks_few(const KernelConfig& c, i64 m, i64 n) {
    return (few_count(c, m, n) + c.block_m - 1) / c.block_m;
}
constexpr i64 blocks_many(const KernelConfig& c, i64 m, i64 n) {
    return (many_count(c, m, n) + c.block_n - 1) / c.block_n;
}
constexpr i64 blocks_few_by_many(const KernelConfig& c, i64 m, i64 n, i64 batch) {
    return blocks_few(c, m, n) * blocks_many(c, m, n) * batch * c.split_k;
}

}  // namespace tmm
