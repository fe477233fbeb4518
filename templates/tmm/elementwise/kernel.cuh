// Applies an epilogue to what C holds, in place, as a program does whose library multiplies only. It is what fused epilogues are compared
// with, so it takes the memory's time: accesses are as wide as rows' alignment allows, and a thread has all of its loads under way at once.
#pragma once

#include "tmm/elementwise/args.h"
#include "tmm/number/element.cuh"
#include "tmm/output/activation.cuh"
#include "tmm/tile/vector.cuh"

namespace tmm::elementwise {

template <KernelSignature signature>
__device__ inline float finish(float x, float bias, float residual) {
    const float biased = signature.bias == BiasAxis::none ? x : x + bias;
    const float activated = activate<signature.activation>(biased);
    return signature.residual ? activated + residual : activated;
}

// The bias of `width` columns. Where C's rows are aligned to 16 bytes, so is the bias, which the caller promises the same of.
template <KernelSignature signature, int width>
__device__ inline void load_bias(const ElementwiseArgs& args, i64 column, float (&bias)[width]) {
    using Bias = Element<signature.type_bias>;
    constexpr int widest = 16 / static_cast<int>(sizeof(Bias));
    constexpr int piece = signature.align_c < 16 ? 1 : width < widest ? width : widest;
    const Bias* const first = static_cast<const Bias*>(args.epilogue.bias) + column;
#pragma unroll
    for (int begin = 0; begin < width; begin += piece) {
        const Vector<Bias, piece> loaded = load_vector<piece>(first + begin);
#pragma unroll
        for (int i = 0; i < piece; ++i) bias[begin + i] = to_float(loaded.element[i]);
    }
}

// Finishes `width` columns of `rows` rows, `step` apart, as far as the rows exist.
template <KernelSignature signature, int width, int rows>
__device__ inline void finish_rows(const ElementwiseArgs& args, i64 batch, i64 row0, i64 column, int step) {
    using C = Element<signature.type_c>;
    C* const c = static_cast<C*>(args.c) + batch * args.stride_c + column;
    float bias[width] = {};
    if constexpr (signature.bias == BiasAxis::columns) load_bias<signature, width>(args, column, bias);
    Vector<C, width> values[rows] = {};
    Vector<C, width> residuals[rows] = {};
    float bias_of_row[rows] = {};
#pragma unroll
    for (int i = 0; i < rows; ++i) {
        const i64 row = row0 + i * step;
        if (row >= args.m) continue;
        values[i] = load_vector<width>(c + row * args.ldc);
        if constexpr (signature.residual)
            residuals[i] = load_vector<width>(static_cast<const C*>(args.epilogue.residual) + batch * args.epilogue.stride_r +
                                              row * args.epilogue.ldr + column);
        if constexpr (signature.bias == BiasAxis::rows)
            bias_of_row[i] = to_float(static_cast<const Element<signature.type_bias>*>(args.epilogue.bias)[row]);
    }
#pragma unroll
    for (int i = 0; i < rows; ++i) {
        const i64 row = row0 + i * step;
        if (row >= args.m) continue;
#pragma unroll
        for (int j = 0; j < width; ++j)
            values[i].element[j] =
                from_float<C>(finish<signature>(to_float(values[i].element[j]), signature.bias == BiasAxis::rows ? bias_of_row[i] : bias[j],
                                                to_float(residuals[i].element[j])));
        store_vector_global(c + row * args.ldc, values[i]);
    }
}

// rows: how many rows a thread finishes.
template <KernelSignature signature, int rows>
__device__ inline void kernel(const ElementwiseArgs& args) {
    constexpr int width = vector_width(signature);
    const int block = static_cast<int>(blockIdx.x);
    const int band = block / args.tiles_across;
    const int across = static_cast<int>(threadIdx.x) % args.threads_across;
    const int down = static_cast<int>(threadIdx.x) / args.threads_across;
    const int step = kThreads / args.threads_across;
    const i64 column = (static_cast<i64>(block % args.tiles_across) * args.threads_across + across) * width;
    const i64 row = static_cast<i64>(band % args.tiles_down) * step * rows + down;
    const i64 batch = band / args.tiles_down;
    if (column + width <= args.n) {
        finish_rows<signature, width, rows>(args, batch, row, column, step);
    } else {
        for (i64 single = column; single < args.n; ++single) finish_rows<signature, 1, rows>(args, batch, row, single, step);
    }
}

}  // namespace tmm::elementwise
