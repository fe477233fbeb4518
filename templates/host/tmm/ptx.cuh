// The emulated device's version of tmm/ptx.cuh: each function does on the CPU what its instruction does.
#pragma once

#include "host/cuda_builtins.h"

namespace tmm::ptx {

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
