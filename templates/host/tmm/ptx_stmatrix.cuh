// The emulated device's version of tmm/ptx_stmatrix.cuh.
#pragma once

#include "tmm/problem.h"
#include "tmm/ptx.cuh"

namespace tmm::ptx {

template <ElementType type>
inline unsigned cvt_rn_pair(float lower, float upper) {
    const auto rounded_to = [](float value) { return type == ElementType::f16 ? cvt_rn_f16_f32(value) : cvt_rn_bf16_f32(value); };
    return packed(rounded_to(lower), rounded_to(upper));
}

// Each lane writes its own elements to the rows, or columns, that others point at.
template <bool transposed, int matrices>
inline void stmatrix(void* row, const unsigned (&pairs)[matrices], host::Site site) {
    const int lane = host::lane();
    if (lane < matrices * 8 && reinterpret_cast<unsigned long>(row) % 16 != 0)
        host::services->fail("stmatrix to a misaligned address", site);
    void* const* const rows = gather(row, site);
    for (int matrix = 0; matrix < matrices; ++matrix) {
        for (int i = 0; i < 2; ++i) {
            const int line = transposed ? lane % 4 * 2 + i : lane / 4;
            const int place = transposed ? lane / 4 : lane % 4 * 2 + i;
            static_cast<unsigned short*>(rows[matrix * 8 + line])[place] = half_of(pairs[matrix], i);
        }
    }
}
template <bool transposed>
inline void stmatrix_x4(void* row, const unsigned (&pairs)[4], TMM_HOST_SITE) {
    stmatrix<transposed>(row, pairs, {file, line});
}
template <bool transposed>
inline void stmatrix_x2(void* row, const unsigned (&pairs)[2], TMM_HOST_SITE) {
    stmatrix<transposed>(row, pairs, {file, line});
}

}  // namespace tmm::ptx
