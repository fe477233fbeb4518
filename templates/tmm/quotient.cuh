// Division of numbers of 64 bits that most often need 32.
#pragma once

#include "tmm/problem.h"

namespace tmm {

// Neither is negative; 64 bits take several times as long.
__device__ inline i64 quotient(i64 a, i64 b) {
    return (a | b) >> 32 != 0 ? a / b : static_cast<unsigned>(a) / static_cast<unsigned>(b);
}

}  // namespace tmm
