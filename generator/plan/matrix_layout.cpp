#include "generator/plan/matrix_layout.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tmm {
namespace {

// Products of two elements' offsets do not fit in 64 bits.
__extension__ using i128 = __int128;

// The smallest x >= 0 with lowest <= a * x mod m <= highest, where 0 < lowest <= highest < m and 0 <= a < m; nothing where there is none.
// Euclid's algorithm: between multiples of m the values a * x go up in steps of a, and where a step passes over the range, how often they
// must wrap round to land in it is the same question of m mod a and a.
std::optional<i128> first_multiple_within(i128 a, i128 m, i128 lowest, i128 highest) {
    if (a == 0) return std::nullopt;
    const i128 step = (lowest + a - 1) / a;
    if (a * step <= highest) return step;
    // a * x - m * y in the range means m * y mod a in the range's negative; no multiple of a lies in it, so its ends keep their order.
    const auto wraps = first_multiple_within(m % a, a, (a - highest % a) % a, (a - lowest % a) % a);
    if (!wraps) return std::nullopt;
    return (lowest + m * *wraps + a - 1) / a;
}

}  // namespace

MatrixLayout layout_of_a(const GemmProblem& p) {
    return {
        .rows = stored_rows_a(p), .columns = stored_columns_a(p), .ld = p.lda, .stride = p.stride_a, .batch = p.batch, .type = p.type_a};
}

MatrixLayout layout_of_b(const GemmProblem& p) {
    return {
        .rows = stored_rows_b(p), .columns = stored_columns_b(p), .ld = p.ldb, .stride = p.stride_b, .batch = p.batch, .type = p.type_b};
}

MatrixLayout layout_of_c(const GemmProblem& p) {
    return {.rows = rows_of_c(p), .columns = columns_of_c(p), .ld = p.ldc, .stride = p.stride_c, .batch = p.batch, .type = p.type_c};
}

double elements_of_c(const GemmProblem& p) {
    return static_cast<double>(rows_of_c(p)) * static_cast<double>(columns_of_c(p)) * static_cast<double>(p.batch);
}

MatrixLayout layout_of_residual(const GemmProblem& p) {
    return {.rows = p.residual ? rows_of_c(p) : 0,
            .columns = columns_of_c(p),
            .ld = p.ldr,
            .stride = p.stride_r,
            .batch = p.batch,
            .type = p.type_c};
}

std::optional<i64> extent_in_bytes(const MatrixLayout& x) {
    // Distances are counted in bytes wherever alignment is asked for, also those that no element lies behind.
    const i64 most = std::numeric_limits<i64>::max() / size_of(x.type);
    if (std::max({x.rows, x.columns, x.ld, x.stride}) > most) return std::nullopt;
    if (x.rows == 0 || x.columns == 0 || x.batch == 0) return 0;
    i64 rows = 0, members = 0, bytes = 0;
    if (__builtin_mul_overflow(x.rows - 1, x.ld, &rows) || __builtin_mul_overflow(x.batch - 1, x.stride, &members) ||
        __builtin_add_overflow(rows, members, &bytes) || __builtin_add_overflow(bytes, x.columns, &bytes) ||
        __builtin_mul_overflow(bytes, static_cast<i64>(size_of(x.type)), &bytes))
        return std::nullopt;
    return bytes;
}

// Elements of one member never meet, since a row ends before the next one begins. Those of two members that are d apart meet where
// d * stride lies less than a row's columns from a multiple of ld that two rows are apart: d * stride mod ld is then less than columns, or
// more than ld - columns. Only the smallest such d on either side matters, since rows that are farther apart are fewer.
bool elements_overlap(const MatrixLayout& x) {
    if (x.rows == 0 || x.columns == 0 || x.batch <= 1) return false;
    if (x.stride == 0) return true;
    const i64 last_row = (x.rows - 1) * x.ld;
    if (x.stride >= last_row + x.columns) return false;
    const i64 farthest = x.batch - 1;
    const i64 above = std::min(farthest, (last_row + x.columns - 1) / x.stride), below = std::min(farthest, last_row / x.stride);
    const i64 step = x.stride % x.ld;
    if (x.ld / std::gcd(x.stride, x.ld) <= above) return true;
    if (x.columns == 1) return false;
    const auto behind = first_multiple_within(step, x.ld, 1, x.columns - 1);
    if (behind && *behind <= above) return true;
    const auto before = first_multiple_within(step, x.ld, x.ld - x.columns + 1, x.ld - 1);
    return before && *before <= below;
}

}  // namespace tmm
