// This file says what a fixup kernel needs and allows (kernel.cuh).
#pragma once

#include "tmm/number/arithmetic.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// The kernel that adds up what stream-K's blocks leave of the tiles that they share. The tile is that of the kernel before it.
struct Fixup {
    int block_m = 1;
    int block_n = 4;
    int block_k = 1;

    friend constexpr bool operator==(const Fixup&, const Fixup&) = default;
};

}  // namespace tmm

namespace tmm::fixup {

constexpr KernelConfig tile_of(const Fixup& f) {
    return KernelConfig{.block_m = f.block_m, .block_n = f.block_n, .block_k = f.block_k};
}

// Neighbouring elements of a row that a thread adds up.
constexpr int kVector = 4;

constexpr int threads(const Fixup&) {
    return 256;
}

constexpr const char* first_violation(const Fixup& f, const KernelSignature& s) {
    if (const char* violation = summed_types_violation(s)) return violation;
    if (f.block_m < 1 || f.block_n < kVector || f.block_n % kVector != 0) return "fixup's block_n is a multiple of 4";
    if (f.block_k < 1) return "fixup's block_k is that of the kernel whose parts it adds up";
    return nullptr;
}

constexpr int vectors(const Fixup& f) {
    return f.block_m * f.block_n / kVector;
}
constexpr int blocks_per_tile(const Fixup& f) {
    return (vectors(f) + threads(f) - 1) / threads(f);
}

}  // namespace tmm::fixup
