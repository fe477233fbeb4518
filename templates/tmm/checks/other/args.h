// The arguments of the kernel of kernel.cuh, which the host shares.
#pragma once

namespace tmm {

inline constexpr int kOtherThreads = 256;
// Elements that a thread changes.
inline constexpr int kOtherWidth = 4;

// Each block changes kOtherThreads * kOtherWidth elements. They are aligned to 16 bytes.
struct OtherArgs {
    float* values = nullptr;
};

}  // namespace tmm
