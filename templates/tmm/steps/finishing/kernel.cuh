// Applies an epilogue to whole sums, those of a product that a plan keeps apart from it. A gate takes an element of each half of the
// columns, or rows. The kernel takes the memory's time: accesses are as wide as rows' alignment allows, and a thread has all of its loads
// under way at once.
#pragma once

#include "tmm/copy/previous_kernel.cuh"
#include "tmm/copy/vector.cuh"
#include "tmm/output/rows.cuh"
#include "tmm/steps/finishing/rules.h"

namespace tmm::finishing {

// The bias of neighbouring elements of a row of C in the sums that a gate is made of, and in those that it is for.
template <class Scalar, int width>
struct BiasOfGate {
    Vector<Scalar, width> gate;
    Vector<Scalar, width> value;
};
template <class Kernel, int width>
__device__ inline BiasOfGate<ScalarOf<Kernel>, width> load_bias_of_gate(const GemmArgs& args, i64 row, i64 column) {
    return {.gate = load_bias<Kernel, width>(args.epilogue, place_of_bias<Kernel>(row, column)),
            .value = load_bias<Kernel, width>(args.epilogue, place_of_second_bias<Kernel>(args, row, column))};
}

// Finishes `width` columns of `rows` rows, `step` apart, as far as the rows exist.
template <class Kernel, int width, int rows>
__device__ inline void finish_rows(const FinishingArgs& args, i64 batch, i64 row0, int step, i64 column) {
    const Output<Kernel> output = output_to_c<Kernel>(args, batch);
    using Sum = SumOf<Kernel>;
    const Sum* const sums = static_cast<const Sum*>(args.workspace) + batch * args.stride_sums + column;
    Vector<Sum, width> finished[rows] = {};
    // Unset, since g++ 11 and 12 fail in themselves on one row that is set first.
    Vector<Sum, width> values[rows];
    constexpr bool of_rows = gates_rows(Kernel::signature.activation);
    // The other half of the columns begins anywhere.
    const bool aligned = of_rows || output.columns % 4 == 0;
    const i64 half = of_rows ? output.rows * args.ld_sums : output.columns;
#pragma unroll
    for (int i = 0; i < rows; ++i) {
        const i64 row = existing_row(row0 + i * step, output.rows);
        finished[i] = load_pieces<width>(sums + row * args.ld_sums, true);
        if constexpr (is_gate(Kernel::signature.activation)) values[i] = load_pieces<width>(sums + row * args.ld_sums + half, aligned);
    }
    if constexpr (is_gate(Kernel::signature.activation)) {
        // A bias of columns is the same in all rows.
        BiasOfGate<ScalarOf<Kernel>, width> bias = load_bias_of_gate<Kernel, width>(args, existing_row(row0, output.rows), column);
#pragma unroll
        for (int i = 0; i < rows; ++i) {
            if constexpr (Kernel::signature.bias == BiasAxis::rows)
                bias = load_bias_of_gate<Kernel, width>(args, existing_row(row0 + i * step, output.rows), column);
#pragma unroll
            for (int j = 0; j < width; ++j)
                finished[i].element[j] =
                    gated_with<Kernel>(args, finished[i].element[j], values[i].element[j], bias.gate.element[j], bias.value.element[j]);
        }
    }
    store_rows(output, row0, step, column, finished);
}

// Finishes those of the same elements that belong to the triangle of C that is wanted, one by one.
template <class Kernel, int width>
__device__ inline void finish_wanted(const FinishingArgs& args, i64 batch, i64 row0, i64 column0) {
#pragma unroll 1
    for (int i = 0; i < Kernel::step.rows * width; ++i) {
        const i64 row = row0 + i / width * Kernel::step.down;
        const i64 column = column0 + i % width;
        if (row < args.m && column < columns_of_c<Kernel>(args) && is_wanted(Kernel::signature.result, row, column))
            finish_rows<Kernel, 1, 1>(args, batch, row, 1, column);
    }
}

template <class Kernel>
__device__ void kernel(const FinishingArgs& args) {
    static_assert(first_violation(Kernel::step, Kernel::signature) == nullptr);
    constexpr int width = finishing::width(Kernel::signature);
    // The sums that were written last are read first: they are the likeliest to be in the L2 cache still.
    const unsigned block = gridDim.x - 1 - blockIdx.x;
    const unsigned band = quotient(block, args.tiles_across);
    const unsigned batch = quotient(band, args.tiles_down);
    const int thread = static_cast<int>(threadIdx.x);
    const i64 row =
        static_cast<i64>(band - batch * args.tiles_down.number) * (Kernel::step.down * Kernel::step.rows) + thread / Kernel::step.across;
    const i64 column =
        (static_cast<i64>(block - band * args.tiles_across.number) * Kernel::step.across + thread % Kernel::step.across) * width;
    const i64 columns = columns_of_c<Kernel>(args);
    wait_for_previous_kernel();
    if (row >= args.m) return;
    constexpr Result result = Kernel::signature.result;
    constexpr int rows_apart = (Kernel::step.rows - 1) * Kernel::step.down;
    if (!all_wanted(result, row, column, width) || !all_wanted(result, row + rows_apart, column, width)) {
        finish_wanted<Kernel, width>(args, batch, row, column);
    } else if (column + width <= columns) {
        finish_rows<Kernel, width, Kernel::step.rows>(args, batch, row, Kernel::step.down, column);
    } else {
        for (i64 single = column; single < columns; ++single)
            finish_rows<Kernel, 1, Kernel::step.rows>(args, batch, row, Kernel::step.down, single);
    }
}

}  // namespace tmm::finishing
