// Sums of the parts of K that blocks of a cluster have multiplied.
#pragma once

#include "tmm/tile/vector.cuh"

namespace tmm {

// The place of a column in a row of a part of a tile (families/simt/kernel.cuh, store_part).
constexpr int place_in_part(int column) {
    return column ^ 1;
}

// A sum in the order of its additions. What each of them loses is a float (Knuth, The Art of Computer Programming, volume 2, 4.2.2,
// theorem B), and added in the end, so that many parts err like one rounding; a total that is not finite has lost nothing.
struct PartSum {
    float total = 0;
    float lost = 0;

    __device__ void add(float value) {
        const float sum = total + value;
        const float added = sum - total;
        lost += (total - (sum - added)) + (value - added);
        total = sum;
    }
    __device__ float value() const { return lost - lost == 0 ? total + lost : total; }
};

// parts[0] + parts[1] + …, in that order.
template <int parts, int width>
__device__ inline Vector<float, width> sum_of_parts(const Vector<float, width> (&part)[parts]) {
    Vector<float, width> sums;
#pragma unroll
    for (int i = 0; i < width; ++i) {
        // With two parts the loss is less than what the sum is rounded to.
        if constexpr (parts == 2) {
            sums.element[i] = part[0].element[i] + part[1].element[i];
        } else {
            PartSum sum{.total = part[0].element[i]};
#pragma unroll
            for (int p = 1; p < parts; ++p) sum.add(part[p].element[i]);
            sums.element[i] = sum.value();
        }
    }
    return sums;
}

}  // namespace tmm
