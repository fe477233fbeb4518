// This file says what a reduce kernel needs and allows (kernel.cuh).
#pragma once

#include "tmm/copy/shared_layout.h"
#include "tmm/number/arithmetic.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// The kernel that adds up the partial results of split-K.
struct Reduce {
    // Threads that share the parts of each vector of elements.
    int sharers = 1;
    // Columns of one row that a block adds up.
    int columns = 4;

    friend constexpr bool operator==(const Reduce&, const Reduce&) = default;
};

}  // namespace tmm

namespace tmm::reduce {

// Neighbouring elements of a row that a thread adds up.
constexpr int kVector = 4;
// How many shares of an element are added up before their sum joins the others.
constexpr int kAddedTogether = 8;

constexpr int threads(const Reduce& r) {
    return r.columns / kVector * r.sharers;
}
constexpr i64 shared_bytes(const Reduce& r, const KernelSignature& s) {
    return shared_tile_bytes(sum_type(s), r.sharers * r.columns);
}

constexpr const char* first_violation(const Reduce& r, const KernelSignature& s) {
    if (const char* violation = summed_types_violation(s)) return violation;
    if (r.columns < kVector || r.columns % kVector != 0) return "reduce's columns are a multiple of 4";
    if (r.sharers < 1 || threads(r) > 1024) return "sharers * columns / 4 is the block's threads: 1 to 1024";
    return nullptr;
}

constexpr i64 blocks(const Reduce& r, i64 m, i64 n, i64 batch) {
    const i64 needed = m * ((n + r.columns - 1) / r.columns) * batch;
    return needed < 2147483647 ? needed : 2147483647;
}

constexpr i64 longest_chain(const Reduce& r, int split_k) {
    const int together = r.sharers < kAddedTogether ? r.sharers : kAddedTogether;
    return (split_k + r.sharers - 1) / r.sharers + together + (r.sharers + together - 1) / together;
}

}  // namespace tmm::reduce
