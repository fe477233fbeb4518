// The emulated device's version of tmm/ptx.cuh: each function does on the CPU what its instruction does.
#pragma once

#include "host/cuda_builtins.h"
#include "tmm/vocabulary/problem.h"

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
    // A subnormal number is fraction * 2^-24.
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
    // For subnormal results adding 0.5 rounds to multiples of 2^-24, which are left in the last bits.
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
    host::check_aligned("cp.async writes", destination, bytes, site);
    host::check_aligned("cp.async reads", source, bytes, site);
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
    host::check_aligned("a thread stores", destination, sizeof(words), {file, line});
    __builtin_memcpy(destination, words, sizeof(words));
}

template <class V>
inline V ld(const void* source, TMM_HOST_SITE) {
    host::check_aligned("a thread loads", source, alignof(V), {file, line});
    V value;
    __builtin_memcpy(&value, source, sizeof value);
    return value;
}
template <class V>
inline void st(void* destination, const V& value, TMM_HOST_SITE) {
    host::check_aligned("a thread stores", destination, alignof(V), {file, line});
    __builtin_memcpy(destination, &value, sizeof value);
}

template <int count>
inline void ld_global_evict_first(unsigned (&words)[count], const void* source, TMM_HOST_SITE) {
    host::check_aligned("a thread loads", source, sizeof(words), {file, line});
    __builtin_memcpy(words, source, sizeof(words));
}

// Returns what the 32 lanes of a warp bring to an instruction that the warp executes as one.
template <class Brought>
inline const Brought* gather(const Brought& brought, host::Site site) {
    return static_cast<const Brought*>(host::services->gather(&brought, sizeof brought, site));
}

struct MatrixRow {
    unsigned short element[8];
};

// Each lane reads the row that it points at itself, so that a bad address shows in the lane that gave it.
inline const MatrixRow* gather_rows(const void* row, host::Site site) {
    host::check_aligned("ldmatrix reads", row, sizeof(MatrixRow), site);
    return gather(*static_cast<const MatrixRow*>(row), site);
}

inline unsigned packed(unsigned short low, unsigned short high) {
    return static_cast<unsigned>(high) << 16 | low;
}

inline void ldmatrix_x4(unsigned (&fragments)[4], const void* row, TMM_HOST_SITE) {
    const MatrixRow* const rows = gather_rows(row, {file, line});
    const int lane = host::lane();
    for (int matrix = 0; matrix < 4; ++matrix) {
        const MatrixRow& read = rows[matrix * 8 + lane / 4];
        fragments[matrix] = packed(read.element[lane % 4 * 2], read.element[lane % 4 * 2 + 1]);
    }
}

inline void ldmatrix_x4_trans(unsigned (&fragments)[4], const void* row, TMM_HOST_SITE) {
    const MatrixRow* const rows = gather_rows(row, {file, line});
    const int lane = host::lane();
    for (int matrix = 0; matrix < 4; ++matrix) {
        const MatrixRow* const read = rows + matrix * 8 + lane % 4 * 2;
        fragments[matrix] = packed(read[0].element[lane / 4], read[1].element[lane / 4]);
    }
}

struct MmaOperands {
    unsigned a[4];
    unsigned b[2];
};

inline unsigned short half_of(unsigned word, int half) {
    return static_cast<unsigned short>(word >> (16 * half));
}

// Products are exact; they are added in float, rounded to the nearest, in the order of k. Tensor cores add several at once and cut off
// what is below the last bit of the largest, which is not modelled: their sums differ in the last bits.
template <class ToFloat>
inline void mma_m16n8k16(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, ToFloat to_float, host::Site site) {
    const MmaOperands* const lanes = gather(MmaOperands{{a[0], a[1], a[2], a[3]}, {b0, b1}}, site);
    const int lane = host::lane();
    for (int i = 0; i < 4; ++i) {
        const int row = lane / 4 + i / 2 * 8;
        const int column = lane % 4 * 2 + i % 2;
        for (int k = 0; k < 16; ++k) {
            const MmaOperands& of_a = lanes[row % 8 * 4 + k % 8 / 2];
            const MmaOperands& of_b = lanes[column * 4 + k % 8 / 2];
            sums[i] += to_float(half_of(of_a.a[row / 8 + k / 8 * 2], k % 2)) * to_float(half_of(of_b.b[k / 8], k % 2));
        }
    }
}

inline void mma_m16n8k16_f16(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, TMM_HOST_SITE) {
    mma_m16n8k16(sums, a, b0, b1, cvt_f32_f16, {file, line});
}
inline void mma_m16n8k16_bf16(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, TMM_HOST_SITE) {
    const auto to_float = [](unsigned short value) { return host::same_bits<float>(static_cast<unsigned>(value) << 16); };
    mma_m16n8k16(sums, a, b0, b1, to_float, {file, line});
}

inline unsigned prmt(unsigned first, unsigned second, unsigned selector) {
    const unsigned long long bytes = static_cast<unsigned long long>(second) << 32 | first;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) result |= static_cast<unsigned>(bytes >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
    return result;
}

inline void mma_m16n8k32_s8(unsigned (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, TMM_HOST_SITE) {
    const MmaOperands* const lanes = gather(MmaOperands{{a[0], a[1], a[2], a[3]}, {b0, b1}}, host::Site{file, line});
    const int lane = host::lane();
    const auto number = [](unsigned word, int byte) {
        return static_cast<unsigned>(static_cast<signed char>(static_cast<unsigned char>(word >> 8 * byte)));
    };
    for (int i = 0; i < 4; ++i) {
        const int row = lane / 4 + i / 2 * 8;
        const int column = lane % 4 * 2 + i % 2;
        for (int k = 0; k < 32; ++k) {
            const MmaOperands& of_a = lanes[row % 8 * 4 + k % 16 / 4];
            const MmaOperands& of_b = lanes[column * 4 + k % 16 / 4];
            sums[i] += number(of_a.a[row / 8 + k / 16 * 2], k % 4) * number(of_b.b[k / 16], k % 4);
        }
    }
}

inline void mma_m16n8k16_f64(double (&sums)[4], const double (&a)[8], double b0, double b1, double b2, double b3, TMM_HOST_SITE) {
    struct Operands {
        double a[8];
        double b[4];
    };
    const Operands* const lanes =
        gather(Operands{{a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]}, {b0, b1, b2, b3}}, host::Site{file, line});
    const int lane = host::lane();
    for (int i = 0; i < 4; ++i) {
        const int row = lane / 4 + i / 2 * 8;
        const int column = lane % 4 * 2 + i % 2;
        for (int k = 0; k < 16; ++k)
            sums[i] = __builtin_fma(lanes[row % 8 * 4 + k % 4].a[row / 8 + k / 4 * 2], lanes[column * 4 + k % 4].b[k / 4], sums[i]);
    }
}

inline unsigned cluster_ctarank() {
    return static_cast<unsigned>(host::services->cluster_rank());
}

inline void prefetch_l2(const void*) {}

inline float without_denormals(float x) {
    return __builtin_fabsf(x) < 0x1p-126f ? 0.0f * x : x;
}
inline float ex2_approx(float x) {
    return without_denormals(exp2f(without_denormals(x)));
}
inline float rcp_approx(float x) {
    return without_denormals(1.0f / without_denormals(x));
}

inline void cluster_sync(TMM_HOST_SITE) {
    host::services->sync_cluster({file, line});
}

// Threads see each other's writes at once.
inline void cluster_meet(TMM_HOST_SITE) {
    host::services->sync_cluster({file, line});
}
inline void fence_acq_rel_cluster() {}

template <class T>
inline const T* mapa(const T* shared, int rank, TMM_HOST_SITE) {
    return static_cast<const T*>(host::services->map_shared(shared, rank, {file, line}));
}

template <ElementType type>
inline unsigned cvt_rn_pair(float lower, float upper) {
    const auto rounded_to = [](float value) { return type == ElementType::f16 ? cvt_rn_f16_f32(value) : cvt_rn_bf16_f32(value); };
    return packed(rounded_to(lower), rounded_to(upper));
}

// Each lane writes its own elements to the rows, or columns, that others point at.
template <bool transposed, int matrices>
inline void stmatrix(void* row, const unsigned (&pairs)[matrices], host::Site site) {
    const int lane = host::lane();
    if (lane < matrices * 8) host::check_aligned("stmatrix writes", row, 16, site);
    void* const* const rows = gather(row, site);
    for (int matrix = 0; matrix < matrices; ++matrix) {
        for (int i = 0; i < 2; ++i) {
            const int line = transposed ? lane % 4 * 2 + i : lane / 4;
            const int place = transposed ? lane / 4 : lane % 4 * 2 + i;
            static_cast<unsigned short*>(rows[matrix * 8 + line])[place] = half_of(pairs[matrix], i);
        }
    }
    host::services->written_to_shared();
}
template <bool transposed>
inline void stmatrix_x4(void* row, const unsigned (&pairs)[4], TMM_HOST_SITE) {
    stmatrix<transposed>(row, pairs, {file, line});
}
template <bool transposed>
inline void stmatrix_x2(void* row, const unsigned (&pairs)[2], TMM_HOST_SITE) {
    stmatrix<transposed>(row, pairs, {file, line});
}

inline int thread_here() {
    return static_cast<int>(threadIdx.x);
}

constexpr bool kWgmmaTakesUnsetSums = true;

template <class Sum, int count>
inline void hold(Sum (&)[count]) {}

inline void griddepcontrol_wait() {}
inline void griddepcontrol_launch_dependents() {}

}  // namespace tmm::ptx

#include "host/hopper.h"
