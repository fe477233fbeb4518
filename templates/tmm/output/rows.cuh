// Finishes neighbouring sums of several rows at once. All that results are made of is read before the first of them is stored, so that the
// loads are under way together, and what is read of a bias of columns serves all rows.
#pragma once

#include "tmm/output/output.cuh"

namespace tmm {

// Neighbouring elements of the residual, which is aligned to all of them.
template <int width, KernelSignature target>
__device__ inline Vector<Element<target.type_c>, width> load_residual(const OperandsOf<target>& operands, i64 row, i64 column, i64 batch) {
    const EpilogueArgs& args = operands.args;
    return load_vector<width>(static_cast<const Element<target.type_c>*>(args.residual) + batch * args.stride_r + row * args.ldr + column);
}

// The row, or the last one in the place of those that do not exist: what is read twice costs less than a branch, behind which what rows
// have in common would be read anew.
__device__ inline i64 existing_row(i64 row, i64 rows) {
    return row < rows ? row : rows - 1;
}

// Stores the results of `width` neighbouring sums in each of these rows, `step` apart, as far as the rows exist; sums has the last row's in
// the place of those that do not. C is aligned to `width` elements there.
template <KernelSignature signature, int width, int rows>
__device__ inline void store_rows(const Output<signature>& output, i64 row0, int step, i64 column,
                                  const Vector<float, width> (&sums)[rows]) {
    using Result = Output<signature>;
    constexpr KernelSignature target = Result::target;
    using C = typename Result::C;
    const Results<target> results = output.results;
    const i64 batch = results.origin.batch;
    const bool over = results.reads_c();
    // Where C is read, the residual's elements come with the results.
    const bool brings_residual = target.residual && !over;
    Vector<C, width> elements[rows] = {};
#pragma unroll
    for (int i = 0; i < rows; ++i) {
        const i64 row = existing_row(row0 + i * step, output.rows);
        if (over) elements[i] = load_vector<width>(output.at(row, column));
        if constexpr (target.residual)
            if (brings_residual) elements[i] = load_residual<width, target>(results.operands, row, column, batch);
    }
#pragma unroll
    for (int i = 0; i < rows; ++i) {
        const i64 row = existing_row(row0 + i * step, output.rows);
        if (over) {
            finish<true>(elements[i], results, row, column, sums[i].element);
        } else {
#pragma unroll
            for (int j = 0; j < width; ++j)
                elements[i].element[j] = from_float<C>(Results<target>::result_with(
                    results.operands, results.scalars.alpha, row, column + j, batch, sums[i].element[j], elements[i].element[j]));
        }
    }
#pragma unroll
    for (int i = 0; i < rows; ++i) {
        const i64 row = row0 + i * step;
        if (row < output.rows) store_vector_global(output.at(row, column), elements[i]);
    }
}

}  // namespace tmm
