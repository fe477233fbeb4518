// The families' rules behind one name each, for the host: how many threads, how much shared memory, what is not allowed.
#pragma once

#include "tmm/fixup.h"
#include "tmm/gemv.h"
#include "tmm/mma.h"
#include "tmm/naive.h"
#include "tmm/pack.h"
#include "tmm/pad.h"
#include "tmm/planes.h"
#include "tmm/reduce.h"
#include "tmm/rescue.h"
#include "tmm/simt.h"
#include "tmm/skinny.h"
#include "tmm/tiled.h"
#include "tmm/wgmma.h"

namespace tmm {

// A set of fields: a bit for each row of kParameters.
using FieldSet = unsigned long long;
static_assert(kParameterCount <= 64);

template <class... Members>
constexpr FieldSet fields(Members... members) {
    FieldSet set = 0;
    for (int i = 0; i < kParameterCount; ++i)
        if ((... || (kParameters[i].member == members))) set |= FieldSet{1} << i;
    return set;
}

// The fields that a family's kernels, or their launches, depend on. All others are neutral.
constexpr FieldSet used_fields(int family) {
    using C = KernelConfig;
    const FieldSet any = fields(&C::family, &C::overlap);
    switch (family) {
        case family::naive: return any | fields(&C::block_m, &C::block_n, &C::boundary);
        case family::tiled: return any | fields(&C::block_m, &C::block_n, &C::block_k, &C::boundary);
        case family::simt:
            return any | fields(&C::block_m, &C::block_n, &C::block_k, &C::thread_m, &C::thread_n, &C::stages, &C::async_copy,
                                &C::vector_width, &C::boundary, &C::split_k, &C::raster, &C::min_blocks, &C::pack_ab, &C::cluster,
                                &C::along_k, &C::trim, &C::fma_order, &C::stream_k, &C::slice_k);
        case family::gemv:
            return any | fields(&C::block_m, &C::block_n, &C::block_k, &C::thread_n, &C::vector_width, &C::stages, &C::boundary,
                                &C::split_k, &C::swap_ab, &C::trim);
        case family::reduce: return any | fields(&C::block_m, &C::block_n, &C::split_k);
        case family::pack: return any | fields(&C::pack_ab, &C::min_blocks, &C::trim);
        case family::wgmma:
            return any | fields(&C::block_m, &C::block_n, &C::block_k, &C::stages, &C::vector_width, &C::boundary, &C::split_k, &C::raster,
                                &C::min_blocks, &C::swap_ab, &C::pack_ab, &C::cluster, &C::trim, &C::warps_m, &C::warps_n, &C::multicast_a,
                                &C::multicast_b, &C::planes, &C::promote_k, &C::ping_pong);
        case family::mma:
            return any | fields(&C::block_m, &C::block_n, &C::block_k, &C::warps_m, &C::warps_n, &C::stages, &C::async_copy,
                                &C::vector_width, &C::boundary, &C::split_k, &C::raster, &C::min_blocks);
        case family::pad: return any | fields(&C::pack_ab, &C::boundary, &C::min_blocks);
        case family::planes:
            return any | fields(&C::planes, &C::vector_width, &C::boundary, &C::stages, &C::split_k, &C::cluster, &C::min_blocks);
        case family::rescue:
            return any | fields(&C::block_m, &C::block_n, &C::block_k, &C::thread_m, &C::thread_n, &C::stages, &C::async_copy,
                                &C::vector_width, &C::boundary, &C::split_k, &C::min_blocks);
        case family::fixup: return any | fields(&C::block_m, &C::block_n, &C::block_k, &C::raster, &C::stream_k);
        case family::skinny:
            return any | fields(&C::block_m, &C::block_n, &C::block_k, &C::thread_m, &C::thread_n, &C::stages, &C::vector_width,
                                &C::boundary, &C::split_k, &C::swap_ab, &C::slice_k, &C::min_blocks);
    }
    return any;
}

// The first field whose value the family has no use for: one that it does not use and that is not neutral, or that lies outside of what a
// field may hold at all. Null where there is none. Nothing else is computed of a config before this is known.
constexpr const Parameter* misused_field(const KernelConfig& c) {
    const FieldSet used = used_fields(c.family);
    for (int i = 0; i < kParameterCount; ++i) {
        const Parameter& parameter = kParameters[i];
        const int value = c.*parameter.member;
        const bool is_used = (used >> i & 1) != 0;
        if (is_used ? value < least_value(parameter) || value > most_value(parameter) : value != parameter.neutral) return &parameter;
    }
    return nullptr;
}

constexpr int threads(const KernelConfig& c) {
    switch (c.family) {
        case family::naive: return naive::threads(c);
        case family::tiled: return tiled::threads(c);
        case family::simt: return simt::threads(c);
        case family::gemv: return gemv::threads(c);
        case family::reduce: return reduce::threads(c);
        case family::pack: return pack::threads(c);
        case family::wgmma: return wgmma::threads(c);
        case family::mma: return mma::threads(c);
        case family::pad: return pad::threads(c);
        case family::planes: return planes::threads(c);
        case family::rescue: return rescue::threads(c);
        case family::fixup: return fixup::threads(c);
        case family::skinny: return skinny::threads(c);
    }
    return 0;
}

constexpr i64 shared_bytes(const KernelConfig& c, const KernelSignature& s) {
    switch (c.family) {
        case family::naive: return naive::shared_bytes(c, s);
        case family::tiled: return tiled::shared_bytes(c, s);
        case family::simt: return simt::shared_bytes(c, s);
        case family::gemv: return gemv::shared_bytes(c, s);
        case family::reduce: return reduce::shared_bytes(c, s);
        case family::pack: return pack::shared_bytes(c, s);
        case family::wgmma: return wgmma::shared_bytes(c, s);
        case family::mma: return mma::shared_bytes(c, s);
        case family::pad: return pad::shared_bytes(c, s);
        case family::planes: return planes::shared_bytes(c, s);
        case family::rescue: return rescue::shared_bytes(c, s);
        case family::fixup: return fixup::shared_bytes(c, s);
        case family::skinny: return skinny::shared_bytes(c, s);
    }
    return 0;
}

// Why no kernel can be made of the config for the signature, whatever the sizes; null where one can.
constexpr const char* first_violation(const KernelConfig& c, const KernelSignature& s) {
    if (misused_field(c)) return "a field has a value that the family has no use for";
    if (s.epilogue != Epilogue::none) return "no family has this epilogue yet";
    switch (c.family) {
        case family::naive: return naive::first_violation(c, s);
        case family::tiled: return tiled::first_violation(c, s);
        case family::simt: return simt::first_violation(c, s);
        case family::gemv: return gemv::first_violation(c, s);
        case family::reduce: return reduce::first_violation(c, s);
        case family::pack: return pack::first_violation(c, s);
        case family::wgmma: return wgmma::first_violation(c, s);
        case family::mma: return mma::first_violation(c, s);
        case family::pad: return pad::first_violation(c, s);
        case family::planes: return planes::first_violation(c, s);
        case family::rescue: return rescue::first_violation(c, s);
        case family::fixup: return fixup::first_violation(c, s);
        case family::skinny: return skinny::first_violation(c, s);
    }
    return "no such family";
}

// Blocks that run together and reach into each other's shared memory.
constexpr int cluster_size(const KernelConfig& c) {
    return c.family == family::wgmma ? wgmma::cluster_size(c) : c.cluster;
}

// Thread blocks of a kernel over the whole batch; pack, pad, planes, rescue and fixup have their own.
constexpr i64 blocks(const KernelConfig& c, i64 m, i64 n, i64 batch) {
    switch (c.family) {
        case family::naive: return naive::blocks(c, m, n, batch);
        case family::tiled: return tiled::blocks(c, m, n, batch);
        case family::simt: return simt::blocks(c, m, n, batch);
        case family::gemv: return gemv::blocks(c, m, n, batch);
        case family::wgmma: return wgmma::blocks(c, m, n, batch);
        case family::reduce: return reduce::blocks(c, m, n, batch);
        case family::mma: return mma::blocks(c, m, n, batch);
        case family::skinny: return skinny::blocks(c, m, n, batch);
    }
    return 0;
}

// Elements of A and B that a thread brings from global memory in one phase of block_k; in naive, for one k.
constexpr double loads_per_phase(const KernelConfig& c) {
    switch (c.family) {
        case family::naive: return 2;
        case family::tiled: return 2;
        case family::simt: return static_cast<double>(c.block_k) * (c.block_m + c.block_n) / simt::threads(c);
        case family::gemv: return static_cast<double>(gemv::k_step(c)) * (c.thread_n + c.block_m);
        case family::mma: return static_cast<double>(c.block_k) * (c.block_m + c.block_n) / mma::threads(c);
    }
    return 0;
}

// Does the copy engine bring its tiles, and no thread?
constexpr bool is_brought_by_tma(const KernelConfig& c) {
    return c.family == family::wgmma || c.family == family::skinny || (c.family == family::simt && simt::brings_by_tma(c));
}
// Elements of A and B that a block brings in one phase then.
constexpr double loads_by_tma(const KernelConfig& c) {
    return static_cast<double>(c.block_k) * (c.block_m + c.block_n) * c.planes;
}

// Floating-point operations for every element that a block brings from global memory. A block of M x N multiplies
// 2 M N K operations out of (M + N) K elements; for a square tile that is TILE_WIDTH (Kirk and Hwu, ch. 5).
constexpr double flop_per_load(const KernelConfig& c) {
    if (c.family == family::naive) return 1;
    return 2.0 * c.block_m * c.block_n / (c.block_m + c.block_n);
}

}  // namespace tmm
