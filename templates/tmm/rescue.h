// What a rescue kernel needs and allows (rescue.cuh): what simt does, of which it is one that mostly has nothing to do.
#pragma once

#include "tmm/args.h"
#include "tmm/simt.h"

namespace tmm {

struct RescueArgs : GemmArgs {
    // Each operand's mark (planes.h).
    const unsigned* unfit_a = nullptr;
    const unsigned* unfit_b = nullptr;
};

}  // namespace tmm

namespace tmm::rescue {

constexpr int threads(const KernelConfig& c) {
    return simt::threads(c);
}
constexpr i64 shared_bytes(const KernelConfig& c, const KernelSignature& s) {
    return simt::shared_bytes(c, s);
}
constexpr const char* first_violation(const KernelConfig& c, const KernelSignature& s) {
    if (c.split_k != 1) return "rescue does not split K";
    return simt::first_violation(c, s);
}
constexpr i64 blocks(const KernelConfig& c, i64 m, i64 n, i64 batch) {
    return simt::blocks(c, m, n, batch);
}

}  // namespace tmm::rescue
