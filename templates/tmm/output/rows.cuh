// Finishes neighbouring sums of several rows at once. All that results are made of is read before the first of them is stored, so that the
// loads are under way together, and what is read of a bias of columns, in accesses as wide as its address allows, serves all rows.
#pragma once

#include "tmm/output/output.cuh"

namespace tmm {

// `width` neighbouring elements. aligned: each piece that is read at once starts at a multiple of its size.
template <int width, class T>
__device__ inline Vector<T, width> load_pieces(const T* source, bool aligned) {
    constexpr int most = 16 / static_cast<int>(sizeof(T));
    constexpr int piece = width < most ? width : most;
    Vector<T, width> all;
#pragma unroll
    for (int begin = 0; begin < width; begin += piece) {
        Vector<T, piece> loaded;
        if (aligned) {
            loaded = load_vector<piece>(source + begin);
        } else {
#pragma unroll
            for (int i = 0; i < piece; ++i) loaded.element[i] = source[begin + i];
        }
#pragma unroll
        for (int i = 0; i < piece; ++i) all.element[begin + i] = loaded.element[i];
    }
    return all;
}

// The bias of neighbouring elements of a row of C; the first one's stands at that place. It may begin anywhere.
template <class Kernel, int width>
__device__ inline Vector<ScalarOf<Kernel>, width> load_bias(const EpilogueArgs& args, i64 place) {
    using Scalar = ScalarOf<Kernel>;
    Vector<Scalar, width> bias;
    if constexpr (Kernel::signature.bias == BiasAxis::columns) {
        using Bias = ElementOfBias<Kernel>;
        constexpr int bytes = width * static_cast<int>(sizeof(Bias));
        const Bias* const first = static_cast<const Bias*>(args.bias) + place;
        const bool aligned = reinterpret_cast<unsigned long long>(first) % (bytes < 16 ? bytes : 16) == 0;
        const Vector<Bias, width> loaded = load_pieces<width>(first, aligned);
#pragma unroll
        for (int i = 0; i < width; ++i) bias.element[i] = to_number<Scalar>(loaded.element[i]);
    } else {
        const Scalar of_row = bias_at<Kernel>(args, place);
#pragma unroll
        for (int i = 0; i < width; ++i) bias.element[i] = of_row;
    }
    return bias;
}

// Neighbouring elements of the residual, which is aligned to all of them.
template <int width, class Target>
__device__ inline Vector<ElementOfC<Target>, width> load_residual(const OperandsOf<Target>& operands, i64 row, i64 column, i64 batch) {
    const EpilogueArgs& args = operands.args;
    return load_vector<width>(static_cast<const ElementOfC<Target>*>(args.residual) + batch * args.stride_r + row * args.ldr + column);
}

// The row, or the last one in the place of those that do not exist: what is read twice costs less than a branch, behind which what rows
// have in common would be read anew.
__device__ inline i64 existing_row(i64 row, i64 rows) {
    return row < rows ? row : rows - 1;
}

// A kernel whose results are not finished yet.
template <class Kernel>
struct WithoutEpilogue : Kernel {
    static constexpr KernelSignature signature = without_epilogue(Kernel::signature);
};

// Stores the results of `width` neighbouring sums in each of these rows, `step` apart, as far as the rows exist; sums has the last row's in
// the place of those that do not. C is aligned to `width` elements there.
template <class Kernel, int width, int rows>
__device__ inline void store_rows(const Output<Kernel>& output, i64 row0, int step, i64 column,
                                  const Vector<SumOf<Kernel>, width> (&sums)[rows]) {
    using Result = Output<Kernel>;
    using Target = typename Result::Target;
    using C = typename Result::C;
    using Scalar = ScalarOf<Kernel>;
    const Results<Target> results = output.results;
    const i64 batch = results.origin.batch;
    const bool over = results.reads_c();
    constexpr bool shares_bias = Target::signature.bias == BiasAxis::columns;
    Vector<Scalar, width> bias = {};
    if constexpr (shares_bias) bias = load_bias<Target, width>(results.operands.args, place_of_bias<Target>(row0, column));
    Vector<C, width> elements[rows] = {};
    Vector<C, width> residual[rows] = {};
#pragma unroll
    for (int i = 0; i < rows; ++i) {
        const i64 row = existing_row(row0 + i * step, output.rows);
        if (over) elements[i] = load_vector<width>(output.at(row, column));
        if constexpr (Target::signature.residual) residual[i] = load_residual<width, Target>(results.operands, row, column, batch);
    }
#pragma unroll
    for (int i = 0; i < rows; ++i) {
        const i64 row = existing_row(row0 + i * step, output.rows);
#pragma unroll
        for (int j = 0; j < width; ++j) {
            // What the sum is with C, before the epilogue, whose operands are there.
            const Scalar x = Results<WithoutEpilogue<Target>>::result({}, results.scalars.alpha, results.scalars.beta, row, column + j,
                                                                      batch, sums[i].element[j], elements[i].element[j]);
            const Scalar its_bias = shares_bias ? bias.element[j] : bias_at<Target>(results.operands, row, column + j);
            elements[i].element[j] = to_element<C>(
                finished<Target>(results.operands, row, column + j, batch, x, its_bias, to_number<Scalar>(residual[i].element[j])));
        }
    }
#pragma unroll
    for (int i = 0; i < rows; ++i) {
        const i64 row = row0 + i * step;
        if (row < output.rows) store_vector_global(output.at(row, column), elements[i]);
    }
}

}  // namespace tmm
