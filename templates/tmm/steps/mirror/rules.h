// This file says what a mirror kernel needs and allows (kernel.cuh).
#pragma once

#include "tmm/copy/shared_layout.h"
#include "tmm/schedule/triangle.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// The kernel that makes C symmetric: what stands below the diagonal is copied to above it. A block takes a square of so many rows.
struct Mirror {
    int side = 32;

    friend constexpr bool operator==(const Mirror&, const Mirror&) = default;
};

}  // namespace tmm

namespace tmm::mirror {

constexpr int kThreads = 256;

// Elements from one row of a square to the next in shared memory: a column's elements then stand in different banks.
constexpr int row_distance(const Mirror& mirror, const KernelSignature& s) {
    return mirror.side + (size_of(s.type_c) < 4 ? 4 / size_of(s.type_c) : 1);
}

constexpr int threads(const Mirror&) {
    return kThreads;
}
constexpr i64 shared_bytes(const Mirror& mirror, const KernelSignature& s) {
    return shared_tile_bytes(s.type_c, mirror.side * row_distance(mirror, s));
}

constexpr const char* first_violation(const Mirror& mirror, const KernelSignature&) {
    if (mirror.side < 16 || mirror.side > 128 || (mirror.side & (mirror.side - 1)) != 0) return "a mirror's side is 16, 32, 64 or 128";
    return nullptr;
}

// Squares on and below the diagonal.
constexpr i64 blocks(const Mirror& mirror, i64 m, i64 batch) {
    return tiles_of_result(Result::lower, m, m, mirror.side, mirror.side).all() * batch;
}

}  // namespace tmm::mirror
