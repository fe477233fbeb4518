// The emulated device's version of tmm/ptx.cuh: each function does on the CPU what its instruction does.
#pragma once

#include "host/cuda_builtins.h"

namespace tmm::ptx {

// The bits of a float rounded to the nearest multiple of 2^dropped in its last place, ties to even.
inline unsigned rounded(unsigned bits, int dropped) {
    const unsigned half = (1u << (dropped - 1)) - 1;
    return (bits + half + (bits >> dropped & 1u)) >> dropped;
}

inline float cvt_f32_f16(unsigned short value) {
    const unsigned sign = (value & 0x8000u) << 16;
    const unsigned exponent = value >> 10 & 0x1fu;
    const unsigned fraction = value & 0x3ffu;
    if (exponent == 0x1f) return host::same_bits<float>(sign | 0x7f800000u | fraction << 13);
    // Subnormal: fraction * 2^-24.
    if (exponent == 0) return host::same_bits<float>(sign | host::same_bits<unsigned>(static_cast<float>(fraction) * 0x1p-24f));
    return host::same_bits<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

inline unsigned short cvt_rn_f16_f32(float value) {
    const unsigned bits = host::same_bits<unsigned>(value);
    const unsigned sign = bits >> 16 & 0x8000u;
    const unsigned magnitude = bits & 0x7fffffffu;
    // NaN has one spelling here, as PTX has it.
    if (magnitude > 0x7f800000u) return 0x7fff;
    // From 65520 on, the middle between the largest finite number and the next, all is infinite.
    if (magnitude >= 0x477ff000u) return static_cast<unsigned short>(sign | 0x7c00u);
    if (magnitude >= 0x38800000u) return static_cast<unsigned short>(sign | rounded(magnitude - (112u << 23), 13));
    // Subnormal results: adding 0.5 rounds to multiples of 2^-24, which are left in the last bits.
    const float shifted = host::same_bits<float>(magnitude) + 0.5f;
    return static_cast<unsigned short>(sign | (host::same_bits<unsigned>(shifted) & 0x7ffu));
}

inline unsigned short cvt_rn_bf16_f32(float value) {
    const unsigned bits = host::same_bits<unsigned>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return static_cast<unsigned short>(rounded(bits, 16));
}

// Both ends are touched at once, so that a bad address shows at the copy, not at the wait where the bytes move.
template <int bytes>
inline void cp_async(void* destination, const void* source, int source_bytes, TMM_HOST_SITE) {
    const host::Site site{file, line};
    if (reinterpret_cast<unsigned long>(destination) % bytes != 0) host::services->fail("cp.async to a misaligned address", site);
    if (reinterpret_cast<unsigned long>(source) % bytes != 0) host::services->fail("cp.async from a misaligned address", site);
    if (source_bytes < 0 || source_bytes > bytes) host::services->fail("cp.async of more bytes than its width", site);
    auto* const target = static_cast<volatile char*>(destination);
    target[0] = target[0];
    target[bytes - 1] = target[bytes - 1];
    if (source_bytes > 0) {
        const auto* const origin = static_cast<const volatile char*>(source);
        static_cast<void>(origin[0]);
        static_cast<void>(origin[source_bytes - 1]);
    }
    host::services->copy_async(destination, source, bytes, source_bytes);
}

inline void cp_async_4(void* destination, const void* source, int source_bytes, TMM_HOST_SITE) {
    cp_async<4>(destination, source, source_bytes, file, line);
}
inline void cp_async_8(void* destination, const void* source, int source_bytes, TMM_HOST_SITE) {
    cp_async<8>(destination, source, source_bytes, file, line);
}
inline void cp_async_16(void* destination, const void* source, int source_bytes, TMM_HOST_SITE) {
    cp_async<16>(destination, source, source_bytes, file, line);
}

inline void cp_async_commit_group() {
    host::services->commit_copies();
}

template <int pending>
inline void cp_async_wait_group() {
    host::services->wait_for_copies(pending);
}

template <int count>
inline void st_global(void* destination, const unsigned (&words)[count], TMM_HOST_SITE) {
    if (reinterpret_cast<unsigned long>(destination) % sizeof(words) != 0)
        host::services->fail("a store of several words to a misaligned address", {file, line});
    __builtin_memcpy(destination, words, sizeof(words));
}

inline unsigned cluster_ctarank() {
    return static_cast<unsigned>(host::services->cluster_rank());
}

inline void cluster_sync(TMM_HOST_SITE) {
    host::services->sync_cluster({file, line});
}

template <class T>
inline const T* mapa(const T* shared, int rank, TMM_HOST_SITE) {
    return static_cast<const T*>(host::services->map_shared(shared, rank, {file, line}));
}

}  // namespace tmm::ptx
