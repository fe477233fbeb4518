// What a scan kernel needs and allows (scan.cuh).
#pragma once

#include "tmm/planes.h"

namespace tmm::scan {

constexpr int threads(const KernelConfig&) {
    return planes::kThreads;
}
constexpr i64 shared_bytes(const KernelConfig&, const KernelSignature&) {
    return shared_tile_bytes<unsigned>(planes::kThreads * planes::kQuad);
}
constexpr const char* first_violation(const KernelConfig& c, const KernelSignature& s) {
    if (const char* violation = float_types_violation(s)) return violation;
    if (!uses_only(c, &KernelConfig::vector_width, &KernelConfig::boundary)) return "scan uses vector_width only";
    return nullptr;
}

}  // namespace tmm::scan
