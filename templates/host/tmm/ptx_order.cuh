// The emulated device's version: values stay in their place by themselves.
#pragma once

#include "host/cuda_builtins.h"

namespace tmm::ptx {

inline int thread_here() {
    return static_cast<int>(threadIdx.x);
}

template <int count>
inline void hold(float (&)[count]) {}

}  // namespace tmm::ptx
