// What becomes of x = alpha * sum + beta * C before it is rounded to an element of C:
//
//     activation(x + bias) + residual,      bias[column] or bias[row],      residual[batch][row][column]
//
// each of them where the signature has it, or an expression that a program's author wrote (Kernel::expression in the generated text). A
// gate takes two columns of the product for one of C, n apart, or two rows in the same way:
//
//     silu(x[column] + bias[column]) * (x[n + column] + bias[n + column]) + residual
#pragma once

#include "tmm/number/number.cuh"
#include "tmm/output/activation.cuh"
#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// What a kernel keeps of a call for its epilogue.
template <bool exists>
struct EpilogueOperands {
    EpilogueArgs args;
};
template <>
struct EpilogueOperands<false> {};

template <class Kernel>
using OperandsOf = EpilogueOperands<Kernel::signature.epilogue != Epilogue::none>;

template <class Kernel>
__device__ inline OperandsOf<Kernel> operands_of(const GemmArgs& args) {
    if constexpr (Kernel::signature.epilogue != Epilogue::none)
        return {args.epilogue};
    else
        return {};
}

// args.m and args.n count the product's rows and columns.
template <class Kernel>
__device__ inline i64 rows_of_c(const GemmArgs& args) {
    return args.m / products_of_row(Kernel::signature.activation);
}
template <class Kernel>
__device__ inline i64 columns_of_c(const GemmArgs& args) {
    return args.n / products_of_column(Kernel::signature.activation);
}

// An index into C for one that may lie beyond its end: bias and residual are read there, too, and have nothing beyond.
template <class Kernel, class Index>
__device__ inline Index within(Index index, Index count) {
    if constexpr (Kernel::signature.bias != BiasAxis::none || Kernel::signature.residual)
        return index < count ? index : count - 1;
    else
        return index;
}

// Where the bias of an element of C stands, and, with a gate, that of what the gate is for.
template <class Kernel>
__device__ inline i64 place_of_bias(i64 row, i64 column) {
    return Kernel::signature.bias == BiasAxis::rows ? row : column;
}
template <class Kernel>
__device__ inline i64 place_of_second_bias(const GemmArgs& args, i64 row, i64 column) {
    constexpr bool of_rows = gates_rows(Kernel::signature.activation);
    return place_of_bias<Kernel>(of_rows ? rows_of_c<Kernel>(args) + row : row, of_rows ? column : columns_of_c<Kernel>(args) + column);
}

template <class Kernel>
__device__ inline ScalarOf<Kernel> bias_at(const EpilogueArgs& args, i64 place) {
    if constexpr (Kernel::signature.bias == BiasAxis::none)
        return 0;
    else
        return to_number<ScalarOf<Kernel>>(static_cast<const ElementOfBias<Kernel>*>(args.bias)[place]);
}
template <class Kernel>
__device__ inline ScalarOf<Kernel> bias_at(const OperandsOf<Kernel>& operands, i64 row, i64 column) {
    if constexpr (Kernel::signature.bias == BiasAxis::none)
        return 0;
    else
        return bias_at<Kernel>(operands.args, place_of_bias<Kernel>(row, column));
}

// Brings `count` elements of the bias from `first` on, as far as C has so many columns or rows (extent), to the L2 cache: results would
// else wait for memory. `threads` threads call it together.
template <class Kernel>
__device__ inline void prefetch_bias(const EpilogueArgs& args, i64 first, int count, i64 extent, int thread, int threads) {
    constexpr int line = 128 / static_cast<int>(sizeof(ElementOfBias<Kernel>));
    for (int i = thread * line; i < count && first + i < extent; i += threads * line)
        ptx::prefetch_l2(static_cast<const ElementOfBias<Kernel>*>(args.bias) + first + i);
}

// The same for the residual's elements of a tile of C, which begins in that row and column.
template <class Kernel>
__device__ inline void prefetch_residual(const GemmArgs& args, i64 first_row, i64 first_column, i64 batch, int rows, int columns,
                                         int thread, int threads) {
    using C = ElementOfC<Kernel>;
    constexpr int line = 128 / static_cast<int>(sizeof(C));
    const int lines = (columns + line - 1) / line;
    const C* const residual = static_cast<const C*>(args.epilogue.residual) + batch * args.epilogue.stride_r;
    for (int i = thread; i < rows * lines; i += threads) {
        const i64 row = first_row + i / lines;
        const i64 column = first_column + i % lines * line;
        if (row < rows_of_c<Kernel>(args) && column < columns_of_c<Kernel>(args))
            ptx::prefetch_l2(residual + row * args.epilogue.ldr + column);
    }
}

template <class Kernel>
__device__ inline ScalarOf<Kernel> residual_at(const OperandsOf<Kernel>& operands, i64 row, i64 column, i64 batch) {
    if constexpr (!Kernel::signature.residual) {
        return 0;
    } else {
        const EpilogueArgs& args = operands.args;
        return to_number<ScalarOf<Kernel>>(
            static_cast<const ElementOfC<Kernel>*>(args.residual)[batch * args.stride_r + row * args.ldr + column]);
    }
}

// bias and residual: their elements where the signature has them.
template <class Kernel>
__device__ inline ScalarOf<Kernel> finished(const OperandsOf<Kernel>& operands, i64 row, i64 column, i64 batch, ScalarOf<Kernel> x,
                                            ScalarOf<Kernel> bias, ScalarOf<Kernel> residual) {
    if constexpr (Kernel::signature.epilogue == Epilogue::none) {
        static_cast<void>(operands), static_cast<void>(row), static_cast<void>(column), static_cast<void>(batch);
        return x;
    } else {
        if constexpr (Kernel::signature.epilogue == Epilogue::custom) {
            const EpilogueArgs& args = operands.args;
            return Kernel::expression(x, row, column, batch, bias, residual, args.parameters[0], args.parameters[1], args.parameters[2],
                                      args.parameters[3]);
        } else {
            // A sum of -0 stays what it is where nothing is added.
            const ScalarOf<Kernel> biased = Kernel::signature.bias == BiasAxis::none ? x : x + bias;
            const ScalarOf<Kernel> activated = activate<Kernel::signature.activation>(biased);
            return Kernel::signature.residual ? activated + residual : activated;
        }
    }
}

// What a gate makes of its two sums for an element of C, with the bias of each; what follows it (behind_gate) takes that for its sum.
template <class Kernel>
__device__ inline ScalarOf<Kernel> gated_with(const GemmArgs& args, ScalarOf<Kernel> gate, ScalarOf<Kernel> value, ScalarOf<Kernel> bias,
                                              ScalarOf<Kernel> second_bias) {
    gate *= static_cast<ScalarOf<Kernel>>(args.alpha);
    value *= static_cast<ScalarOf<Kernel>>(args.alpha);
    if constexpr (Kernel::signature.bias != BiasAxis::none) {
        gate += bias;
        value += second_bias;
    }
    return activate<Activation::silu>(gate) * value;
}
template <class Kernel>
__device__ inline ScalarOf<Kernel> gated(const GemmArgs& args, i64 row, i64 column, ScalarOf<Kernel> gate, ScalarOf<Kernel> value) {
    return gated_with<Kernel>(args, gate, value, bias_at<Kernel>(args.epilogue, place_of_bias<Kernel>(row, column)),
                              bias_at<Kernel>(args.epilogue, place_of_second_bias<Kernel>(args, row, column)));
}

}  // namespace tmm
