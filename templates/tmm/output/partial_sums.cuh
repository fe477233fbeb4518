// Sums of the parts of K that blocks of a cluster have multiplied.
#pragma once

#include "tmm/copy/vector.cuh"

namespace tmm {

// The place of a column in a row of a part of a tile (families/simt/kernel.cuh, store_part).
constexpr int place_in_part(int column) {
    return column ^ 1;
}

// A sum in the order of its additions. What each of them loses is a number of its type (Knuth, The Art of Computer Programming, volume
// 2, 4.2.2, theorem B), and added in the end, so that many parts err like one rounding; a total that is not finite has lost nothing.
template <class Sum>
struct PartSum {
    Sum total = 0;
    Sum lost = 0;

    __device__ void add(Sum value) {
        const Sum sum = total + value;
        const Sum added = sum - total;
        lost += (total - (sum - added)) + (value - added);
        total = sum;
    }
    __device__ Sum value() const { return lost - lost == 0 ? total + lost : total; }
};

// parts[0] + parts[1] + …, in that order.
template <int parts, class Sum, int width>
__device__ inline Vector<Sum, width> sum_of_parts(const Vector<Sum, width> (&part)[parts]) {
    Vector<Sum, width> sums;
#pragma unroll
    for (int i = 0; i < width; ++i) {
        // With two parts the loss is less than what the sum is rounded to.
        if constexpr (parts == 2) {
            sums.element[i] = part[0].element[i] + part[1].element[i];
        } else {
            PartSum<Sum> sum{.total = part[0].element[i]};
#pragma unroll
            for (int p = 1; p < parts; ++p) sum.add(part[p].element[i]);
            sums.element[i] = sum.value();
        }
    }
    return sums;
}

}  // namespace tmm
