// The arguments of the kernels of kernels.cuh, and the contents that they fill matrices with. They are shared with the host, which lays the
// operands out and reads the findings.
#pragma once

#include "tmm/number/arithmetic.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// The contents of a matrix's elements.
namespace contents {
inline constexpr int integers = 0;   // -2 to 2: products and sums are exact, in tf32 and bf16 too
inline constexpr int normal = 1;     // close to standard normal, rounded to the matrix's type; where that is of integers, all of s8's
inline constexpr int unwritten = 2;  // what marks elements that are not written, everywhere
// 1 or 2 less the last bit of a float: next to a number of TF32, and beyond the middle to the one before it. Rounding to the nearest
// changes such an element by 2^-24 of itself, cutting it off by 2^-11. All are positive, so that results lose the same share whatever K is.
inline constexpr int below_tf32 = 3;
}  // namespace contents

// SplitMix64: the counter-th value of the sequence that begins at seed.
constexpr u64 random_bits(u64 seed, u64 counter) {
    u64 x = seed + (counter + 1) * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// The whole number of at most `bits` significant bits that is nearest, ties to even.
constexpr i64 rounded(i64 value, int bits) {
    const i64 magnitude = value < 0 ? -value : value;
    int dropped = 0;
    while (magnitude >> dropped >> bits != 0) ++dropped;
    if (dropped == 0) return value;
    const i64 half = i64{1} << (dropped - 1);
    const i64 kept = (magnitude + half - 1 + (magnitude >> dropped & 1)) >> dropped << dropped;
    return value < 0 ? -kept : kept;
}

// The sum of twelve uniform values, which has variance 1. Integers up to the last step, so that every kernel, compiler and
// device gets the same bits for the same place, and a filled matrix need not be kept to be compared with. A number of the type:
// multiples of 2^-22 below 8 have no more digits than f16 holds, subnormal or not, once they are rounded to its significand. A double has
// 28 digits more behind these, so that its products and sums are rounded.
constexpr double normal_value(ElementType type, u64 seed, u64 counter) {
    // All bytes are as likely, and C's whole numbers have room for what is added to them.
    if (format_of(type).is_integer) {
        const int digits = type == ElementType::s8 ? 8 : 24;
        return static_cast<double>(static_cast<i64>(random_bits(seed, counter) >> (64 - digits)) - (i64{1} << (digits - 1)));
    }
    i64 sum = 0;
    for (u64 i = 0; i < 4; ++i) {
        const u64 bits = random_bits(seed, counter * 4 + i);
        sum += static_cast<i64>((bits & 0x1fffff) + ((bits >> 21) & 0x1fffff) + ((bits >> 42) & 0x1fffff));
    }
    const i64 value = sum * 2 - 12 * 0x1fffffll;
    if (type == ElementType::f64)
        return static_cast<double>(value * (i64{1} << 28) + static_cast<i64>(random_bits(seed, ~counter) >> 36)) * (1.0 / (i64{1} << 50));
    return static_cast<double>(rounded(value, format_of(type).digits)) * (1.0 / 4194304);
}

// The element of that type that stands offset elements behind the matrix's first; content is not unwritten.
constexpr double content_value(ElementType type, int content, u64 seed, i64 offset) {
    const u64 counter = static_cast<u64>(offset);
    if (content == contents::integers) return static_cast<int>(random_bits(seed, counter) % 5) - 2;
    if (content == contents::below_tf32) return static_cast<double>(1 + random_bits(seed, counter) % 2) * (1 - 1.0 / 16777216);
    return normal_value(type, seed, counter);
}

// A buffer that holds a batch of matrices with a guard zone at either end, in words of an element's size.
struct MatrixRegion {
    void* buffer = nullptr;
    ElementType type = ElementType::f32;
    i64 words = 0;
    // Word of the first element, and words from it to the last element, both included; span is 0 where there is none.
    i64 first = 0;
    i64 span = 0;
    i64 rows = 0;
    i64 columns = 0;
    i64 ld = 1;
    // 0 where there is one matrix.
    i64 stride = 0;
    // Members of the batch, stride apart.
    i64 batch = 1;
};

// The last of `count` places that are `step` apart, from 0 on, that is not behind the given place.
constexpr i64 last_start(i64 count, i64 step, i64 place) {
    return (place / step < count ? place / step : count - 1) * step;
}

// Does the word that stands so many words behind the first element hold an element, too? Rows and members of the batch may lie one behind
// the other, side by side, or otherwise within each other.
constexpr bool holds_element(const MatrixRegion& r, i64 offset) {
    if (offset < 0 || offset >= r.span) return false;
    if (r.stride == 0 || r.batch == 1) return offset % r.ld < r.columns;
    if (r.stride >= (r.rows - 1) * r.ld + r.columns) {
        const i64 within = offset % r.stride;
        return within / r.ld < r.rows && within % r.ld < r.columns;
    }
    // The members of the batch stand side by side in common rows.
    if (r.ld >= (r.batch - 1) * r.stride + r.columns) {
        const i64 within = offset % r.ld;
        return within - last_start(r.batch, r.stride, within) < r.columns;
    }
    // Whichever there are fewer of are tried one by one.
    const bool by_row = r.rows <= r.batch;
    const i64 step = by_row ? r.ld : r.stride;
    for (i64 i = 0; i < (by_row ? r.rows : r.batch) && i * step <= offset; ++i) {
        const i64 within = offset - i * step;
        const i64 start = by_row ? last_start(r.batch, r.stride, within) : last_start(r.rows, r.ld, within);
        if (within - start < r.columns) return true;
    }
    return false;
}

// The findings, summed up by atomic operations. A ratio's bits order like the ratio.
struct Finding {
    u64 count = 0;
    // Index of the first finding.
    u64 first = ~0ull;
    u64 worst_ratio_bits = 0;
};

// Writes every word of the buffer: elements by content, all others as poison.
struct FillArgs {
    MatrixRegion region;
    int content = 0;
    u64 seed = 0;
};

// zones: words outside of the elements that are not poison. elements: with unchanged, elements that differ from content;
// otherwise elements that are not finite. Indices are words of the buffer.
struct CheckArgs {
    MatrixRegion region;
    int content = 0;
    int unchanged = 0;
    u64 seed = 0;
    Finding* zones = nullptr;
    Finding* elements = nullptr;
};

// sum = op(A) op(B) and magnitude = |op(A)| |op(B)| in double, [batch][row][n], of the rows listed (all where rows is null). Of products of
// doubles what the sum lacks is kept as well.
struct ReferenceArgs {
    // The type of A and B.
    ElementType type = ElementType::f32;
    const void* a = nullptr;
    const void* b = nullptr;
    const i64* rows = nullptr;
    double* sum = nullptr;
    double* rest = nullptr;
    // The pointers to rest and to magnitude may be null.
    double* magnitude = nullptr;
    i64 row_count = 0;
    i64 n = 0;
    i64 k = 0;
    i64 batch = 1;
    // Distance between neighbours along m, k and n.
    i64 a_step_m = 0;
    i64 a_step_k = 0;
    i64 b_step_k = 0;
    i64 b_step_n = 0;
    i64 stride_a = 0;
    i64 stride_b = 0;
};

// Threads of a block, and rows and columns of the tile that they compute.
inline constexpr int kReferenceThreads = 256;
inline constexpr int kReferenceTile = 64;

// Arguments for all rows of op(A) op(B). The pointers are the caller's to set.
constexpr ReferenceArgs reference_of(const GemmProblem& p) {
    const bool a_plain = p.op_a == Operation::none;
    const bool b_plain = p.op_b == Operation::none;
    return ReferenceArgs{.type = p.type_a,
                         .row_count = p.m,
                         .n = p.n,
                         .k = p.k,
                         .batch = p.batch,
                         .a_step_m = a_plain ? p.lda : 1,
                         .a_step_k = a_plain ? 1 : p.lda,
                         .b_step_k = b_plain ? p.ldb : 1,
                         .b_step_n = b_plain ? 1 : p.ldb,
                         .stride_a = p.stride_a,
                         .stride_b = p.stride_b};
}
// Blocks take more than one tile where there are very many.
constexpr i64 reference_blocks(const ReferenceArgs& args) {
    constexpr i64 most = i64{1} << 20;
    const i64 tiles =
        (args.row_count + kReferenceTile - 1) / kReferenceTile * ((args.n + kReferenceTile - 1) / kReferenceTile) * args.batch;
    return tiles < most ? tiles : most;
}

// A bias and a residual, as content and seeds made them.
struct CompareEpilogue {
    BiasAxis bias = BiasAxis::none;
    Activation activation = Activation::none;
    bool residual = false;
    ElementType type_bias = ElementType::f32;
    u64 seed_bias = 0;
    u64 seed_residual = 0;
    i64 ldr = 0;
    i64 stride_r = 0;
};

// Is the element one of those that a product makes, of which others may be copies?
constexpr bool is_computed(Result result, i64 row, i64 column) {
    return result == Result::full || (result == Result::upper ? column >= row : column <= row);
}

// Compares C with epilogue(alpha * sum + beta * C0), where C0 is what content and seed made C hold. bound_factor 0: they must be equal once
// rounded to the type of C, unless the epilogue leaves the whole numbers; otherwise |error| <= bound_factor * (|alpha| magnitude + |beta|
// |C0|) before the epilogue, which adds its own (epilogue.h), as rounding does where C is narrower than the sums. Sums of integers must
// be equal modulo 2^32 whatever the factor. Indices count
// [batch][row][n]; with a gate the sums are [batch][row][2 n], or [batch][2 rows][n] where it takes rows: the gate's of all rows first.
struct CompareArgs {
    ElementType type = ElementType::f32;
    const void* c = nullptr;
    const i64* rows = nullptr;
    const double* sum = nullptr;
    // Null where the sums are wide enough by themselves.
    const double* rest = nullptr;
    const double* magnitude = nullptr;
    i64 row_count = 0;
    // Rows of C, listed or not, and columns.
    i64 m = 0;
    i64 n = 0;
    i64 batch = 1;
    i64 ldc = 0;
    i64 stride_c = 0;
    // What is wanted of C: of the other triangle nothing is to be written, or, where C is symmetric, what this one has.
    Result result = Result::full;
    // Whether elements of C are rounded beyond the sums (Arithmetic::rounds_result).
    int rounds_result = 0;
    double alpha = 1;
    double beta = 0;
    double bound_factor = 0;
    int content = 0;
    u64 seed = 0;
    // How far one rounding of a sum can change it, relatively.
    double roundoff = 0;
    CompareEpilogue epilogue = {};
    Finding* finding = nullptr;
};

// The bits of alpha * sum + beta * before, modulo 2^32, of whole numbers that doubles hold.
constexpr unsigned wrapped_sum(double alpha, double sum, double beta, double before) {
    const auto bits = [](double x) { return static_cast<unsigned>(static_cast<i64>(x)); };
    return bits(alpha) * bits(sum) + bits(beta) * bits(before);
}

}  // namespace tmm
