// The arguments of the kernel of kernel.cuh, and how its blocks divide C. They are shared with the host, which launches it.
#pragma once

#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

struct ElementwiseArgs {
    // What the library has left, of C's type: C itself, or where there is a gate 2 n columns, or 2 m rows, in memory of its own, whose rows
    // are aligned to 16 bytes.
    const void* product = nullptr;
    i64 ld_product = 0;
    i64 stride_product = 0;
    void* c = nullptr;
    // Rows and columns of C.
    i64 m = 0;
    i64 n = 0;
    i64 ldc = 0;
    i64 stride_c = 0;
    // A block's threads stand in so many columns, a power of two, and C's members in so many tiles of a block each.
    int threads_across = 1;
    int tiles_across = 1;
    int tiles_down = 1;
    EpilogueArgs epilogue = {};
};

namespace elementwise {

inline constexpr int kThreads = 256;

// Elements that a thread moves at once: as many as 16 bytes hold, where all rows of C and of the residual are aligned to that.
constexpr int vector_width(const KernelSignature& s) {
    const int bytes = s.residual && s.align_residual < s.align_c ? s.align_residual : s.align_c;
    return bytes / size_of(s.type_c);
}

// The largest power of two, up to the elements of 16 bytes, that divides C's columns. The product's second half, which a gate is for, and
// its bias begin so many columns behind the first, and are read in no larger pieces.
constexpr int aligned_columns(i64 n) {
    int aligned = 8;
    while (n % aligned != 0) aligned /= 2;
    return aligned;
}

}  // namespace elementwise
}  // namespace tmm
