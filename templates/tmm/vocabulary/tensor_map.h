// A tensor map tells the tensor memory accelerator (TMA) about a matrix: the driver encodes it, the kernel only hands it on.
#pragma once

#include "tmm/vocabulary/problem.h"

namespace tmm {

// The largest extent of a box in each dimension, in elements (cuTensorMapEncodeTiled, boxDim).
constexpr int kLargestBox = 256;

struct alignas(64) TensorMap {
    unsigned long long words[16] = {};
};

}  // namespace tmm
