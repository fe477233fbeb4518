// Sums of floats that keep what their additions lose, so that a sum of many parts is as exact as one rounding of it.
#pragma once

#include "tmm/vector.cuh"

namespace tmm {

// total += value. What that loses is a float (Knuth, The Art of Computer Programming, volume 2, 4.2.2, theorem B); where the total is
// not finite, nothing is lost.
__device__ inline float add_and_tell_loss(float& total, float value) {
    const float sum = total + value;
    const float added = sum - total;
    const float lost = (total - (sum - added)) + (value - added);
    total = sum;
    return lost - lost == 0 ? lost : 0;
}

// Sums of neighbouring elements.
template <int width>
struct CompensatedSums {
    Vector<float, width> total = {};
    Vector<float, width> lost = {};

    __device__ void add(const Vector<float, width>& values) {
#pragma unroll
        for (int i = 0; i < width; ++i) lost.element[i] += add_and_tell_loss(total.element[i], values.element[i]);
    }
    __device__ Vector<float, width> rounded() const {
        Vector<float, width> sums;
#pragma unroll
        for (int i = 0; i < width; ++i) sums.element[i] = total.element[i] + lost.element[i];
        return sums;
    }
};

}  // namespace tmm
