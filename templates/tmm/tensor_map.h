// What the tensor memory accelerator (TMA) is told about a matrix: the driver encodes it, the kernel only hands it on.
#pragma once

#include "tmm/problem.h"

namespace tmm {

// Of a box, each way, in elements (cuTensorMapEncodeTiled, boxDim).
constexpr int kLargestBox = 256;

struct alignas(64) TensorMap {
    unsigned long long words[16] = {};
};

}  // namespace tmm
