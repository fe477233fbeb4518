// Strips of C that `pack` has multiplied on its way (strips.cuh): how their sums are shared among blocks of the product.
#pragma once

#include "tmm/copy/shared_layout.h"
#include "tmm/steps/pack/rules.h"

namespace tmm {

// What the product is told of the strips.
struct StripsArgs {
    // How many blocks add up the strips; they are the first of the product's grid.
    int blocks = 0;
    // The columns of C, whose long operand is A, and the rows, whose long operand is B.
    PackedStrip with_a;
    PackedStrip with_b;
};

namespace strips {

// Neighbouring sums of a line that a lane adds up, and a warp.
constexpr int kVector = 4;
constexpr int kSums = 32 * kVector;

// A block's warps share the parts of the same sums.
constexpr int shared_elements(int threads) {
    return threads / 32 * kSums;
}
constexpr i64 shared_bytes(int threads, const KernelSignature& s) {
    return shared_tile_bytes(sum_type(s), shared_elements(threads));
}

// Pieces of work: so many sums of a line, or, where the product leaves rows and columns, one element of the corner between them.
struct Pieces {
    i64 of_columns;
    i64 of_rows;
    i64 of_corner;
    constexpr i64 all() const { return of_columns + of_rows + of_corner; }
};
// The pieces of work for each member of the batch. m, n: the product's part of C.
constexpr Pieces pieces(int lines_with_a, int lines_with_b, i64 m, i64 n) {
    return {lines_with_a * ((m + kSums - 1) / kSums), lines_with_b * ((n + kSums - 1) / kSums), i64{lines_with_a} * lines_with_b};
}

// The longest chain of roundings in a block of so many warps.
constexpr i64 longest_chain(int warps, i64 k) {
    const i64 of_sum = pack::kLongestStripChain + (pack::strip_parts(k) + warps - 1) / warps + warps;
    const i64 of_corner = (k + 32 * warps - 1) / (32 * warps) + 5 + warps;
    return of_sum > of_corner ? of_sum : of_corner;
}

}  // namespace strips
}  // namespace tmm
