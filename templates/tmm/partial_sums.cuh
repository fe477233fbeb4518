// Sums of the parts of K that blocks of a cluster have multiplied.
#pragma once

#include "tmm/vector.cuh"

namespace tmm {

// parts[0] + parts[1] + …, in that order. What each addition loses is a float (Knuth, The Art of Computer Programming, volume 2, 4.2.2,
// theorem B), and added in the end, so that many parts err like one rounding; a total that is not finite has lost nothing.
template <int parts, int width>
__device__ inline Vector<float, width> sum_of_parts(const Vector<float, width> (&part)[parts]) {
    Vector<float, width> sums;
#pragma unroll
    for (int i = 0; i < width; ++i) {
        float total = part[0].element[i];
        float lost = 0;
#pragma unroll
        for (int p = 1; p < parts; ++p) {
            const float value = part[p].element[i];
            const float sum = total + value;
            const float added = sum - total;
            // Of two parts the loss is less than what the sum is rounded to.
            if constexpr (parts > 2) lost += (total - (sum - added)) + (value - added);
            total = sum;
        }
        sums.element[i] = lost - lost == 0 ? total + lost : total;
    }
    return sums;
}

}  // namespace tmm
