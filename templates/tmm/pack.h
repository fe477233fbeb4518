// What a pack kernel needs and allows (pack.cuh), and where it leaves the operands.
#pragma once

#include "tmm/args.h"
#include "tmm/config.h"
#include "tmm/shared_layout.h"
#include "tmm/signature.h"

namespace tmm::pack {

// A block copies squares of this width.
constexpr int kTile = 32;
constexpr int kRows = 8;

constexpr bool packs_a(const KernelConfig& c) {
    return (c.pack_ab & 1) != 0;
}
constexpr bool packs_b(const KernelConfig& c) {
    return (c.pack_ab & 2) != 0;
}

// A packed operand has k lines of m or n elements, and no gaps but the lines' own padding. In the workspace A's stands first,
// then B's.
constexpr i64 packed_elements(i64 outer, i64 k, i64 batch) {
    return packed_ld(outer) * k * batch;
}

constexpr int threads(const KernelConfig&) {
    return kTile * kRows;
}
// One element more a row, so that columns are read from different banks.
constexpr i64 shared_bytes(const KernelConfig&, const KernelSignature&) {
    return shared_tile_bytes<float>(kTile * (kTile + 1));
}

constexpr const char* first_violation(const KernelConfig& c, const KernelSignature& s) {
    if (const char* violation = float_types_violation(s)) return violation;
    if (c.pack_ab < 1 || c.pack_ab > 3) return "pack's pack_ab is 1 to 3";
    if (!uses_only(c, &KernelConfig::pack_ab)) return "pack uses pack_ab only";
    return nullptr;
}

constexpr i64 tiles(i64 outer, i64 k, i64 batch) {
    return ((outer + kTile - 1) / kTile) * ((k + kTile - 1) / kTile) * batch;
}

// Blocks walk over the tiles, so that the grid's limit does not bound the problem.
constexpr i64 blocks(const KernelConfig& c, i64 m, i64 n, i64 k, i64 batch) {
    const i64 needed = (packs_a(c) ? tiles(m, k, batch) : 0) + (packs_b(c) ? tiles(n, k, batch) : 0);
    return needed < 1 ? 1 : needed < 2147483647 ? needed : 2147483647;
}

}  // namespace tmm::pack
