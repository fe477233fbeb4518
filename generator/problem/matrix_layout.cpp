#include "generator/problem/matrix_layout.h"

#include <algorithm>
#include <cstdint>
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

// A member of a batch in bytes: rows of `bytes` that begin `step` apart.
struct Rows {
    i128 first = 0;
    i128 count = 0;
    i128 bytes = 0;
    i128 step = 0;

    Rows(const void* address, const MatrixLayout& x, i64 member)
        : first(static_cast<i128>(reinterpret_cast<std::uintptr_t>(address)) + static_cast<i128>(member) * x.stride * size_of(x.type)),
          count(x.rows),
          bytes(static_cast<i128>(x.columns) * size_of(x.type)),
          step(static_cast<i128>(x.ld) * size_of(x.type)) {
        if (count > 1 && bytes < step) return;
        // Rows without gaps are one.
        bytes += (count - 1) * step;
        count = 1;
    }
    i128 end() const { return first + (count - 1) * step + bytes; }
    // Does a row share a byte with those from `from` to `to`?
    bool meets(i128 from, i128 to) const {
        if (to <= first || end() <= from) return false;
        if (count == 1) return true;
        // Row i begins before `to` and ends behind `from`.
        const i128 last = std::min(count - 1, (to - 1 - first) / step);
        return first + last * step + bytes > from;
    }
};

// Rows and pairs of members that are looked at before matrices count as apart.
constexpr int kMostSteps = 4096;

bool rows_meet(const Rows& x, const Rows& y, int& steps) {
    if (x.end() <= y.first || y.end() <= x.first) return false;
    if (x.count > 1 && y.count > 1 && x.step == y.step) {
        // Row j of y begins `shift` bytes behind row j + ahead of x, so that it can meet that one and the next.
        const i128 distance = y.first - x.first;
        const i128 ahead = distance >= 0 ? distance / x.step : -((x.step - 1 - distance) / x.step);
        const i128 shift = distance - ahead * x.step;
        const auto have_rows = [&](i128 apart) { return std::max<i128>(0, -apart) < std::min(y.count, x.count - apart); };
        return (shift < x.bytes && have_rows(ahead)) || (shift + y.bytes > x.step && have_rows(ahead + 1));
    }
    const bool fewer = x.count <= y.count;
    const Rows& few = fewer ? x : y;
    const Rows& many = fewer ? y : x;
    for (i128 row = std::max<i128>(0, (many.first - few.first - few.bytes) / few.step); row < few.count; ++row) {
        const i128 from = few.first + row * few.step;
        if (from >= many.end() || ++steps > kMostSteps) return false;
        if (many.meets(from, from + few.bytes)) return true;
    }
    return false;
}

// Matrices that stand anywhere have no layout together, but that of each.
i64 members(const GemmProblem& p) {
    return p.pointers ? std::min<i64>(p.batch, 1) : p.batch;
}

}  // namespace

MatrixLayout layout_of_a(const GemmProblem& p) {
    return {
        .rows = stored_rows_a(p), .columns = stored_columns_a(p), .ld = p.lda, .stride = p.stride_a, .batch = members(p), .type = p.type_a};
}

MatrixLayout layout_of_b(const GemmProblem& p) {
    return {
        .rows = stored_rows_b(p), .columns = stored_columns_b(p), .ld = p.ldb, .stride = p.stride_b, .batch = members(p), .type = p.type_b};
}

MatrixLayout layout_of_c(const GemmProblem& p) {
    return {.rows = rows_of_c(p), .columns = columns_of_c(p), .ld = p.ldc, .stride = p.stride_c, .batch = members(p), .type = p.type_c};
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

bool matrices_meet(const void* x, const MatrixLayout& layout_of_x, const void* y, const MatrixLayout& layout_of_y) {
    const auto begin_x = reinterpret_cast<std::uintptr_t>(x), begin_y = reinterpret_cast<std::uintptr_t>(y);
    const auto bytes_x = static_cast<std::uintptr_t>(extent_in_bytes(layout_of_x).value_or(0));
    const auto bytes_y = static_cast<std::uintptr_t>(extent_in_bytes(layout_of_y).value_or(0));
    if (bytes_x == 0 || bytes_y == 0 || (begin_x <= begin_y ? begin_y - begin_x >= bytes_x : begin_x - begin_y >= bytes_y)) return false;
    int steps = 0;
    const i64 members_x = layout_of_x.stride == 0 ? 1 : layout_of_x.batch, members_y = layout_of_y.stride == 0 ? 1 : layout_of_y.batch;
    for (i64 i = 0; i < members_x; ++i)
        for (i64 j = 0; j < members_y; ++j) {
            if (++steps > kMostSteps) return false;
            if (rows_meet(Rows(x, layout_of_x, i), Rows(y, layout_of_y, j), steps)) return true;
        }
    return false;
}

}  // namespace tmm
