// Applies an epilogue to a product, as a program does whose library multiplies only: in place, or with a gate from the product's memory
// into C's. It is what fused epilogues are compared with, so it takes the memory's time: accesses are as wide as rows' alignment allows,
// and a thread has all of its loads under way at once.
#pragma once

#include "tmm/checks/elementwise/args.h"
#include "tmm/copy/vector.cuh"
#include "tmm/number/number.cuh"
#include "tmm/output/epilogue.cuh"

namespace tmm::elementwise {

// What an epilogue is computed in.
template <class Kernel>
using NumberFor = Element<Kernel::signature.type_c == ElementType::f64 ? ElementType::f64 : ElementType::f32>;

// `width` neighbours, read in pieces.
template <int width, int piece, class T>
__device__ inline Vector<T, width> load_in_pieces(const T* source) {
    Vector<T, width> whole;
#pragma unroll
    for (int begin = 0; begin < width; begin += piece) {
        const Vector<T, piece> loaded = load_vector<piece>(source + begin);
#pragma unroll
        for (int i = 0; i < piece; ++i) whole.element[begin + i] = loaded.element[i];
    }
    return whole;
}

// The bias of `width` columns. Where C's rows are aligned to 16 bytes, so is the bias, which the caller promises the same of.
template <class Kernel, int most, int width>
__device__ inline void load_bias(const ElementwiseArgs& args, i64 column, NumberFor<Kernel> (&bias)[width]) {
    using Bias = Element<Kernel::signature.type_bias>;
    constexpr int widest = 16 / static_cast<int>(sizeof(Bias));
    constexpr int fitting = width < widest ? width : widest;
    constexpr int piece = Kernel::signature.align_c < 16 ? 1 : fitting < most ? fitting : most;
    const auto loaded = load_in_pieces<width, piece>(static_cast<const Bias*>(args.epilogue.bias) + column);
#pragma unroll
    for (int i = 0; i < width; ++i) bias[i] = to_number<NumberFor<Kernel>>(loaded.element[i]);
}

// An expression adds the bias itself, where it does.
template <class Kernel>
__device__ inline NumberFor<Kernel> biased(NumberFor<Kernel> x, NumberFor<Kernel> bias) {
    return Kernel::signature.bias == BiasAxis::none || Kernel::signature.epilogue == Epilogue::custom ? x : x + bias;
}

// x and value have their bias; value counts where there is a gate.
template <class Kernel>
__device__ inline NumberFor<Kernel> finish(NumberFor<Kernel> x, NumberFor<Kernel> value, NumberFor<Kernel> residual) {
    NumberFor<Kernel> activated;
    if constexpr (is_gate(Kernel::signature.activation))
        activated = activate<Activation::silu>(x) * value;
    else
        activated = activate<Kernel::signature.activation>(x);
    return Kernel::signature.residual ? activated + residual : activated;
}

// Finishes `width` columns of `rows` rows, `step` apart, as far as the rows exist.
template <class Kernel, int aligned_columns, int width, int rows>
__device__ inline void finish_rows(const ElementwiseArgs& args, i64 batch, i64 row0, i64 column, int step) {
    using C = Element<Kernel::signature.type_c>;
    using T = NumberFor<Kernel>;
    constexpr bool gate = is_gate(Kernel::signature.activation);
    constexpr bool of_rows = gates_rows(Kernel::signature.activation);
    constexpr int fitting = width < aligned_columns ? width : aligned_columns;
    // Where the compiler takes the access to one word apart into two elements, it does so to all of the product's.
    constexpr int half_piece = of_rows ? width : fitting * sizeof(C) < 8 ? 1 : fitting;
    // What a gate is for stands behind it by so many elements of the product.
    const i64 half = of_rows ? args.m * args.ld_product : args.n;
    C* const c = static_cast<C*>(args.c) + batch * args.stride_c + column;
    const C* const product = static_cast<const C*>(args.product) + batch * args.stride_product + column;
    T bias[width] = {};
    T bias_of_value[width] = {};
    if constexpr (Kernel::signature.bias == BiasAxis::columns) {
        load_bias<Kernel, width>(args, column, bias);
        if constexpr (gate && !of_rows) load_bias<Kernel, aligned_columns>(args, args.n + column, bias_of_value);
    }
    Vector<C, width> sums[rows] = {};
    Vector<C, width> values[rows] = {};
    Vector<C, width> residuals[rows] = {};
    T bias_of_row[rows] = {};
    T bias_of_row_of_value[rows] = {};
#pragma unroll
    for (int i = 0; i < rows; ++i) {
        const i64 row = row0 + i * step;
        if (row >= args.m) continue;
        sums[i] = load_vector<width>(product + row * args.ld_product);
        if constexpr (gate) values[i] = load_in_pieces<width, half_piece>(product + row * args.ld_product + half);
        if constexpr (Kernel::signature.residual)
            residuals[i] = load_vector<width>(static_cast<const C*>(args.epilogue.residual) + batch * args.epilogue.stride_r +
                                              row * args.epilogue.ldr + column);
        if constexpr (Kernel::signature.bias == BiasAxis::rows) {
            const auto* const bias_of_rows = static_cast<const Element<Kernel::signature.type_bias>*>(args.epilogue.bias);
            bias_of_row[i] = to_number<T>(bias_of_rows[row]);
            if constexpr (gate) bias_of_row_of_value[i] = to_number<T>(bias_of_rows[of_rows ? args.m + row : row]);
        }
    }
#pragma unroll
    for (int i = 0; i < rows; ++i) {
        const i64 row = row0 + i * step;
        if (row >= args.m) continue;
        constexpr bool by_row = Kernel::signature.bias == BiasAxis::rows;
        Vector<C, width> finished;
#pragma unroll
        for (int j = 0; j < width; ++j) {
            const T its_bias = by_row ? bias_of_row[i] : bias[j];
            const T x = biased<Kernel>(to_number<T>(sums[i].element[j]), its_bias);
            const T value = biased<Kernel>(to_number<T>(values[i].element[j]), by_row    ? bias_of_row_of_value[i]
                                                                               : of_rows ? bias[j]
                                                                                         : bias_of_value[j]);
            const T residual = to_number<T>(residuals[i].element[j]);
            if constexpr (Kernel::signature.epilogue == Epilogue::custom) {
                const float(&p)[4] = args.epilogue.parameters;
                finished.element[j] =
                    to_element<C>(Kernel::expression(x, row, column + j, batch, its_bias, residual, p[0], p[1], p[2], p[3]));
            } else {
                finished.element[j] = to_element<C>(finish<Kernel>(x, value, residual));
            }
        }
        store_vector_global(c + row * args.ldc, finished);
    }
}

// rows: how many rows a thread finishes. aligned_columns: that of C's columns (args.h).
template <class Kernel, int aligned_columns, int rows>
__device__ inline void kernel(const ElementwiseArgs& args) {
    constexpr int width = vector_width(Kernel::signature);
    const int block = static_cast<int>(blockIdx.x);
    const int band = block / args.tiles_across;
    const int across = static_cast<int>(threadIdx.x) % args.threads_across;
    const int down = static_cast<int>(threadIdx.x) / args.threads_across;
    const int step = kThreads / args.threads_across;
    const i64 column = (static_cast<i64>(block % args.tiles_across) * args.threads_across + across) * width;
    const i64 row = static_cast<i64>(band % args.tiles_down) * step * rows + down;
    const i64 batch = band / args.tiles_down;
    if (column + width <= args.n) {
        finish_rows<Kernel, aligned_columns, width, rows>(args, batch, row, column, step);
    } else {
        for (i64 single = column; single < args.n; ++single) finish_rows<Kernel, aligned_columns, 1, rows>(args, batch, row, single, step);
    }
}

}  // namespace tmm::elementwise
