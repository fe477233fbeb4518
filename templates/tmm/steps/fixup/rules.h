// This file says what a fixup kernel needs and allows (kernel.cuh). Its block_m, block_n and block_k are those of the kernel before it.
#pragma once

#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm::fixup {

// Neighbouring elements of a row that a thread adds up: the parts are floats whatever C's type is.
constexpr int kVector = 4;

constexpr int threads(const KernelConfig&) {
    return 256;
}
constexpr i64 shared_bytes(const KernelConfig&, const KernelSignature&) {
    return 0;
}

constexpr const char* first_violation(const KernelConfig& c, const KernelSignature& s) {
    if (const char* violation = converted_types_violation(s)) return violation;
    if (c.block_m < 1 || c.block_n < kVector || c.block_n % kVector != 0) return "fixup's block_n is a multiple of 4";
    if (c.block_k < 1) return "fixup's block_k is that of the kernel whose parts it adds up";
    if (c.stream_k != 1) return "fixup adds up what stream_k=1 leaves";
    return nullptr;
}

constexpr int vectors(const KernelConfig& c) {
    return c.block_m * c.block_n / kVector;
}
constexpr int blocks_per_tile(const KernelConfig& c) {
    return (vectors(c) + threads(c) - 1) / threads(c);
}

}  // namespace tmm::fixup
