// FP32 products on tensor cores that multiply 16 bits. A float stands as a sum of 16-bit numbers, its planes (steps/planes/rules.h), and
// the product of two floats as the products of their planes, but for those too small to matter:
//
//     2 planes, f16:   a b = h h'  +  2^-11 (h l' + l h')                        left out: l l', 2^-22 of a b at most
//     3 planes, bf16:  a b = h h'  +  (m m' + h l' + l h' + h m' + m h')         left out: m l', l m' and l l', 2^-26
//
// Tensor cores cut off what does not fit their 24 bits, always towards zero, so that a long sum of them is too small. Hence the large
// products, h h', are summed by tensor cores over promote_k only, and those sums are added up in registers, rounded to nearest. What
// such an addition loses starts the next short sum (Kahan's compensated summation):
//
//     short sum:   | lost + promote_k of h h' | lost + promote_k of h h' | …      by tensor cores
//     total:                                  ^ total += short           ^        meanwhile they work on:
//     correction:  | small products | small products | …                          by tensor cores, over all of K
//
// In the end the total is raised by what such sums lose on average; but where all small products are 0, operands may well be integers that
// f16 holds, of which nothing is lost.
#pragma once

#include "tmm/families/wgmma/pipeline.cuh"
#include "tmm/families/wgmma/store.cuh"
#include "tmm/ptx.cuh"

namespace tmm::wgmma {

struct PlanePair {
    int left;
    int right;
};
// The small products, the smallest first.
constexpr PlanePair small_product(int planes, int i) {
    constexpr PlanePair of_three[] = {{1, 1}, {0, 2}, {2, 0}, {0, 1}, {1, 0}};
    return planes == 2 ? of_three[3 + i] : of_three[i];
}
// The unit that the correction counts in: the low plane of f16 is stored so many times too large.
constexpr float correction_unit(int planes) {
    return planes == 2 ? 0x1p-11f : 1.0f;
}

// The fraction of itself that a short sum of f16 products loses on average, since tensor cores cut off: as much for each instruction,
// measured on an H200 over uniform, normal and positive numbers. Products of bf16 have few bits to lose.
template <class Kernel>
__device__ inline float mean_loss(i64 k) {
    constexpr float of_instruction = Kernel::config.planes == 2 ? 0.55f * 0x1p-24f : 0.0f;
    const int depth = k < Kernel::config.promote_k ? static_cast<int>(k) : Kernel::config.promote_k;
    return static_cast<float>((depth + 15) / 16) * of_instruction;
}

// The three sums of each element of the warpgroup's 64 rows.
template <class Kernel>
struct PlaneSums {
    float short_sum[group_n(Kernel::config) / 2] = {};
    float total[group_n(Kernel::config) / 2] = {};
    float correction[group_n(Kernel::config) / 2] = {};

    __device__ void promote() {
#pragma unroll
        for (int i = 0; i < group_n(Kernel::config) / 2; ++i) {
            const float added = total[i] + short_sum[i] - total[i];
            short_sum[i] -= added;
            total[i] += added;
        }
    }
};

template <class Kernel>
__device__ inline void multiply_planes(Pipeline<Kernel>& pipeline, const WgmmaArgs& args, const WorkItem& item, int group_row,
                                       int group_column, Sums<Kernel>& sums) {
    using P = Pipeline<Kernel>;
    const auto left_distance = static_cast<unsigned>(distance_of<P::left>(group_row, 0));
    const auto right_distance = static_cast<unsigned>(distance_of<P::right>(group_column, 0));
    PlaneSums<Kernel> parts;
    for (int tile = 0; tile < item.tiles; ++tile) {
        pipeline.wait_full();
        const unsigned left = first_descriptor<P::left>(pipeline.left_address()) + left_distance;
        const unsigned right = first_descriptor<P::right>(pipeline.right_address()) + right_distance;
        const auto multiply = [&](float(&to)[group_n(Kernel::config) / 2], int k, PlanePair planes) {
            ptx::wgmma_mma_async<Kernel::signature.type_a, group_n(Kernel::config), !P::left.along_k, !P::right.along_k>(
                to, descriptor(left, distance_of<P::left>(0, k, planes.left)), descriptor(right, distance_of<P::right>(0, k, planes.right)),
                true);
        };
#pragma unroll
        for (int k0 = 0; k0 < Kernel::config.block_k; k0 += Kernel::config.promote_k) {
            ptx::wgmma_fence();
#pragma unroll
            for (int k = k0; k < k0 + Kernel::config.promote_k; k += k_step(Kernel::signature)) multiply(parts.short_sum, k, {0, 0});
            ptx::wgmma_commit_group();
#pragma unroll
            for (int k = k0; k < k0 + Kernel::config.promote_k; k += k_step(Kernel::signature)) {
#pragma unroll
                for (int i = 0; i < products(Kernel::config.planes) - 1; ++i)
                    multiply(parts.correction, k, small_product(Kernel::config.planes, i));
            }
            ptx::wgmma_commit_group();
            // The large products are done, and all of the tile before.
            ptx::wgmma_wait_group<1>();
            if (k0 == 0 && tile > 0) pipeline.release_previous();
            ptx::hold(parts.short_sum);
            parts.promote();
            ptx::hold(parts.short_sum);
        }
        pipeline.advance();
    }
    pipeline.pass_turn();
    ptx::wgmma_wait_group<0>();
    ptx::hold(parts.correction);
    if (item.tiles > 0) pipeline.release_previous();
    const float loss = mean_loss<Kernel>(args.k);
#pragma unroll
    for (int i = 0; i < group_n(Kernel::config) / 2; ++i)
        sums.of[0][i] = parts.total[i] + fmaf(parts.total[i], parts.correction[i] != 0 ? loss : 0,
                                              fmaf(parts.correction[i], correction_unit(Kernel::config.planes), parts.short_sum[i]));
}

// Multiplies by 2^exponent as by two factors of which neither overflows: exponents of two lines add up to more than a float has.
__device__ inline float times_power_of_two(float value, int exponent) {
    const int half = exponent / 2;
    return value * __int_as_float((127 + half) << 23) * __int_as_float((127 + exponent - half) << 23);
}

// Multiplies the sums by the powers of two that the lines were divided by. lines_left, lines_right: how many lines there are.
template <class Kernel>
__device__ inline void unscale(const WgmmaArgs& args, const WorkItem& item, int group_row, int group_column, i64 lines_left,
                               i64 lines_right, Sums<Kernel>& sums) {
    const int thread = ptx::thread_here();
    const int lane = thread % 32;
    const int warp = thread % kWarpgroup / 32;
    // Where all members of the batch share a matrix, there are exponents of one matrix only.
    const int batch_left = args.stride(Kernel::config.swap_ab != 0) != 0 ? item.batch : 0;
    const int batch_right = args.stride(Kernel::config.swap_ab == 0) != 0 ? item.batch : 0;
    const auto exponent = [&](const int* exponents, int batch, i64 line, i64 lines) {
        return line < lines ? exponents[(batch * args.split_k + item.split) * lines + line] : 0;
    };
    int of_row[2];
#pragma unroll
    for (int i = 0; i < 2; ++i)
        of_row[i] = exponent(args.exponents_left, batch_left, item.left0 + group_row + warp * kWarpRows + lane / 4 + i * 8, lines_left);
#pragma unroll
    for (int column = 0; column < group_n(Kernel::config); column += 8) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const int of_column =
                exponent(args.exponents_right, batch_right, item.right0 + group_column + column + lane % 4 * 2 + j, lines_right);
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                float& sum = sums.of[0][column / 2 + i * 2 + j];
                sum = times_power_of_two(sum, of_row[i] + of_column);
            }
        }
    }
}

}  // namespace tmm::wgmma
