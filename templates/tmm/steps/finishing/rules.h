// This file says what a finishing kernel needs and allows (kernel.cuh), and what it is told.
#pragma once

#include "tmm/number/arithmetic.h"
#include "tmm/schedule/divisor.h"
#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// The kernel that applies an epilogue to whole sums. A block's threads stand in so many columns and rows, and each of them finishes
// neighbouring elements in so many rows, which are `down` apart.
struct Finishing {
    int across = 32;
    int down = 8;
    int rows = 1;

    friend constexpr bool operator==(const Finishing&, const Finishing&) = default;
};

// The head's workspace points to the sums, of the accumulator's type; they may be what C holds.
struct FinishingArgs : GemmArgs {
    i64 ld_sums = 0;
    i64 stride_sums = 0;
    // Blocks stand in so many columns and rows of each member of the batch.
    Divisor tiles_across = {};
    Divisor tiles_down = {};
};

}  // namespace tmm

namespace tmm::finishing {

constexpr int kMostThreads = 256;
// Elements that a thread finishes at once, and rows that it has them in: as many as keep memory busy, and few enough that the epilogue's
// text is compiled few times.
constexpr int kMostElements = 16;
constexpr int kMostRows = 8;

// Neighbouring elements of a thread, in each row: as many as 16 bytes of C hold, where all rows of C and of the residual are aligned to
// that.
constexpr int width(const KernelSignature& s) {
    const int bytes = s.residual && s.align_residual < s.align_c ? s.align_residual : s.align_c;
    return bytes / size_of(s.type_c);
}
constexpr int most_rows(const KernelSignature& s) {
    const int rows = kMostElements / width(s);
    return rows < kMostRows ? rows : kMostRows;
}

constexpr int threads(const Finishing& f) {
    return f.across * f.down;
}

constexpr const char* first_violation(const Finishing& f, const KernelSignature& s) {
    if (const char* violation = converted_types_violation(s)) return violation;
    if (f.across < 1 || f.down < 1 || threads(f) > kMostThreads) return "a finishing block has 1 to 256 threads";
    if (f.rows < 1 || f.rows > most_rows(s)) return "a finishing thread has 1 to 8 rows, and no more than 16 elements";
    return nullptr;
}

// Blocks in a row of C, and rows of blocks.
constexpr i64 tiles_across(const Finishing& f, const KernelSignature& s, i64 columns) {
    const i64 tile = static_cast<i64>(f.across) * width(s);
    return (columns + tile - 1) / tile;
}
constexpr i64 tiles_down(const Finishing& f, i64 rows) {
    const i64 tile = static_cast<i64>(f.down) * f.rows;
    return (rows + tile - 1) / tile;
}

}  // namespace tmm::finishing
