// The one place where sums become elements of C. Whoever has a sum hands it over with its row and column of C, which are known here with
// the member of the batch, so that an epilogue has to be written here alone.
#pragma once

#include "tmm/copy/batch.cuh"
#include "tmm/copy/vector.cuh"
#include "tmm/number/number.cuh"
#include "tmm/output/epilogue.cuh"
#include "tmm/ptx.cuh"
#include "tmm/schedule/work_item.cuh"
#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// Sums become results in C, or go as they are to the workspace where another kernel adds up the parts of K.
template <class Kernel>
constexpr bool is_partial = Kernel::config.split_k > Kernel::config.cluster;

// A kernel with the signature that its results have: partial ones in the workspace, or those of C behind a gate.
template <class Kernel, bool partial>
struct ResultOf : Kernel {
    static constexpr KernelSignature signature = partial ? partial_result_of(Kernel::signature) : behind_gate(Kernel::signature);
};

// Two results rounded to elements of 16 bits, which stand in one word.
template <ElementType type>
__device__ inline unsigned rounded_pair(float first, float second) {
    return ptx::cvt_rn_pair<type>(first, second);
}

template <class Scalar>
struct Scalars {
    Scalar alpha;
    Scalar beta;
};
template <class Kernel>
using OutputScalars = Scalars<ScalarOf<Kernel>>;

// A gate has applied alpha already, and C is not read with it.
template <class Kernel>
__device__ inline OutputScalars<Kernel> output_scalars(const GemmArgs& args) {
    if constexpr (is_gate(Kernel::signature.activation)) return {1, 0};
    return {to_number<ScalarOf<Kernel>>(args.alpha), to_number<ScalarOf<Kernel>>(args.beta)};
}

// What becomes of the sums of C, or of a tile of it, whose first row and column are `origin`. target: the signature that results have,
// which is another one for partial results.
template <class Target, class Index = i64>
struct Results {
    using C = ElementOfC<Target>;
    using Sum = SumOf<Target>;
    using Scalar = ScalarOf<Target>;

    OutputScalars<Target> scalars;
    TileOfC origin;
    OperandsOf<Target> operands = {};

    // With beta = 0 C is never read.
    __device__ bool reads_c() const { return Target::signature.reads_c && scalars.beta != 0; }

    // The result of a sum where C holds `before`, not yet rounded: what an element of C becomes is said here alone. Without `over` what C
    // holds never counts, so that NaN there does not spread. C has the row and the column (epilogue.cuh, within). alpha and beta stand
    // apart from the scalars, so that a caller can say by a constant what it knows of them.
    template <bool over>
    __device__ static Scalar result(const OperandsOf<Target>& operands, Scalar alpha, Scalar beta, i64 row, i64 column, i64 batch, Sum sum,
                                    C before) {
        // The product stands here twice: as a variable it is made before C's element is read, and some kernels of wgmma become others.
        const Scalar x =
            over ? multiply_add(beta, to_number<Scalar>(before), alpha * to_number<Scalar>(sum)) : alpha * to_number<Scalar>(sum);
        const Scalar residual = residual_at<Target>(operands, row, column, batch);
        return finished<Target>(operands, row, column, batch, x, bias_at<Target>(operands, row, column), residual);
    }
    __device__ static Scalar result(const OperandsOf<Target>& operands, Scalar alpha, Scalar beta, i64 row, i64 column, i64 batch, Sum sum,
                                    C before) {
        if constexpr (Target::signature.reads_c) {
            if (beta != 0) return result<true>(operands, alpha, beta, row, column, batch, sum, before);
        }
        return result<false>(operands, alpha, beta, row, column, batch, sum, before);
    }

    // The result of a sum where C is not read and the residual's element is there already, or the bias's, too.
    __device__ static Scalar result_with(const OperandsOf<Target>& operands, Scalar alpha, i64 row, i64 column, i64 batch, Sum sum,
                                         Scalar bias, C residual) {
        return finished<Target>(operands, row, column, batch, alpha * to_number<Scalar>(sum), bias, to_number<Scalar>(residual));
    }
    __device__ static Scalar result_with(const OperandsOf<Target>& operands, Scalar alpha, i64 row, i64 column, i64 batch, Sum sum,
                                         C residual) {
        return result_with(operands, alpha, row, column, batch, sum, bias_at<Target>(operands, row, column), residual);
    }

    // What `result` gives, for a row and column that are counted from the first ones.
    template <bool over>
    __device__ Scalar at(Index row, Index column, Sum sum, C before) const {
        return result<over>(operands, scalars.alpha, scalars.beta, origin.row0 + row, origin.column0 + column, origin.batch, sum, before);
    }
    __device__ Scalar at(Index row, Index column, Sum sum, C before) const {
        return result(operands, scalars.alpha, scalars.beta, origin.row0 + row, origin.column0 + column, origin.batch, sum, before);
    }
    __device__ C element(Index row, Index column, Sum sum, C before) const { return to_element<C>(at(row, column, sum, before)); }
};

// Stores a sum's result to its place c. What is needed is passed by value, here and below, so that no store can be taken to change it.
template <class Target, class Index>
__device__ inline void store_result(ElementOfC<Target>* c, Results<Target, Index> results, Index row, Index column, SumOf<Target> sum) {
    ScalarOf<Target> result = results.template at<false>(row, column, sum, {});
    if constexpr (Target::signature.reads_c) {
        if (results.scalars.beta != 0) result = results.template at<true>(row, column, sum, *c);
    }
    *c = to_element<ElementOfC<Target>>(result);
}

// The results of neighbouring sums of a row in place of what stands in `elements`, which counts where they are results over C.
template <bool over, class Target, class Index, int width>
__device__ inline void finish(Vector<ElementOfC<Target>, width>& elements, const Results<Target, Index>& results, Index row, Index column,
                              const SumOf<Target>* sums) {
    using C = ElementOfC<Target>;
#pragma unroll
    for (int i = 0; i < width; ++i)
        elements.element[i] = to_element<C>(results.template at<over>(row, column + i, sums[i], over ? elements.element[i] : C{}));
}

// Stores the results of `width` neighbouring sums of a row, of which the first `valid` exist, to their places from c on.
template <int width, class Target, class Index>
__device__ inline void store_results(ElementOfC<Target>* c, Results<Target, Index> results, Index row, Index column,
                                     const SumOf<Target>* sums, int valid) {
    using C = ElementOfC<Target>;
    constexpr int aligned = Target::signature.align_c / static_cast<int>(sizeof(C));
    constexpr int access = aligned < width ? aligned : width;
    if constexpr (access > 1) {
        if (valid >= width) {
#pragma unroll
            for (int begin = 0; begin < width; begin += access) {
                Vector<C, access> elements;
                if (Target::signature.reads_c && results.scalars.beta != 0) {
                    elements = load_vector<access>(c + begin);
                    finish<true>(elements, results, row, column + begin, sums + begin);
                } else {
                    finish<false>(elements, results, row, column + begin, sums + begin);
                }
                store_vector_global(c + begin, elements);
            }
            return;
        }
    }
#pragma unroll
    for (int i = 0; i < width; ++i)
        if (i < valid) store_result(c + i, results, row, column + i, sums[i]);
}

// C of a member of the batch.
template <class Kernel>
__device__ inline ElementOfC<Kernel>* matrix_c(const GemmArgs& args, i64 batch) {
    return matrix_of_member<Kernel, ElementOfC<Kernel>>(args.c, args.stride_c, batch);
}

// C, or a partial result in the workspace, or a tile of either: rows and columns are counted from its first ones. Index is a type that
// holds them.
template <class Kernel, bool partial = false, class Index = i64>
struct Output {
    using Target = ResultOf<Kernel, partial>;
    using C = ElementOfC<Target>;
    using Sum = SumOf<Kernel>;

    C* first;
    i64 ld;
    // How many rows and columns exist.
    Index rows;
    Index columns;
    Results<Target, Index> results;

    __device__ C* at(Index row, Index column) const { return first + row * ld + column; }
    // Do these rows and columns exist?
    __device__ bool has(Index row_end, Index column_end) const { return row_end <= rows && column_end <= columns; }

    __device__ void store_element(Index row, Index column, Sum sum) const {
        if (wants(row, column)) store_result(at(row, column), results, row, column, sum);
    }
    // Stores `width` neighbouring elements of a row, of which the first `valid` exist.
    template <int width>
    __device__ void store_elements(Index row, Index column, const Sum* sums, int valid) const {
        store_to<width>(at(row, column), row, column, sums, valid);
    }
    // Stores those of `width` neighbouring elements of a row that exist. The row exists.
    template <int width>
    __device__ void store_to_row(Index row, Index column, const Sum* sums) const {
        C* const c = at(row, column);
        const Index left = columns - column;
        store_to<width>(c, row, column, sums, left < width ? static_cast<int>(left) : width);
    }
    // The same, where the row may not exist, too. guarded: some may not exist.
    template <int width, bool guarded>
    __device__ void store(Index row, Index column, const Sum* sums) const {
        if (guarded && row >= rows) return;
        const Index left = columns - column;
        store_elements<width>(row, column, sums, !guarded || left >= width ? width : static_cast<int>(left));
    }

private:
    // One triangle of C may be all that is wanted; parts of sums are all kept.
    __device__ static constexpr Result wanted() {
        if constexpr (partial)
            return Result::full;
        else
            return Target::signature.result;
    }

    __device__ bool wants(Index row, Index column) const {
        return is_wanted(wanted(), results.origin.row0 + row, results.origin.column0 + column);
    }
    template <int width>
    __device__ void store_to(C* c, Index row, Index column, const Sum* sums, int valid) const {
        if (all_wanted(wanted(), results.origin.row0 + row, results.origin.column0 + column, width)) {
            store_results<width>(c, results, row, column, sums, valid);
            return;
        }
#pragma unroll
        for (int i = 0; i < width; ++i)
            if (i < valid && wants(row, column + i)) store_result(c + i, results, row, column + i, sums[i]);
    }
};

// All of C of a member of the batch.
template <class Kernel>
__device__ inline Output<Kernel> output_to_c(const GemmArgs& args, const OutputScalars<Kernel>& scalars, i64 batch) {
    using Result = Output<Kernel>;
    return {.first = matrix_c<Kernel>(args, batch),
            .ld = args.ldc,
            .rows = rows_of_c<Kernel>(args),
            .columns = columns_of_c<Kernel>(args),
            .results = {.scalars = scalars,
                        .origin = {.row0 = 0, .column0 = 0, .batch = batch},
                        .operands = operands_of<typename Result::Target>(args)}};
}
template <class Kernel>
__device__ inline Output<Kernel> output_to_c(const GemmArgs& args, i64 batch) {
    using Result = Output<Kernel>;
    return {.first = matrix_c<Kernel>(args, batch),
            .ld = args.ldc,
            .rows = rows_of_c<Kernel>(args),
            .columns = columns_of_c<Kernel>(args),
            .results = {.scalars = output_scalars<Kernel>(args),
                        .origin = {.row0 = 0, .column0 = 0, .batch = batch},
                        .operands = operands_of<typename Result::Target>(args)}};
}

// Where the kernel multiplies parts of K for another one to add up, results go to the workspace, a matrix for each part.
template <class Kernel>
__device__ inline i64 number_of_part(const GemmArgs& args, i64 batch, i64 split) {
    return (batch * args.split_k + split) / Kernel::config.cluster;
}

// All of C, or of this part's results. factor: a 1 that the compiler may know or not (families/simt/kernel.cuh, store_part).
template <class Kernel>
__device__ inline Output<Kernel, is_partial<Kernel>> output_of(const GemmArgs& args, i64 batch, i64 split, const float& factor) {
    constexpr bool partial = is_partial<Kernel>;
    using C = typename Output<Kernel, partial>::C;
    const i64 ld = partial ? workspace_ld(args.n) : args.ldc;
    const OutputScalars<Kernel> scalars =
        partial ? OutputScalars<Kernel>{.alpha = to_number<ScalarOf<Kernel>>(factor), .beta = 0} : output_scalars<Kernel>(args);
    const i64 rows = rows_of_c<Kernel>(args);
    const i64 columns = columns_of_c<Kernel>(args);
    const i64 part = number_of_part<Kernel>(args, batch, split);
    const auto first = [&] {
        if constexpr (partial)
            return static_cast<C*>(args.workspace) + part * rows * ld;
        else
            return matrix_c<Kernel>(args, batch);
    };
    return {.first = first(),
            .ld = ld,
            .rows = rows,
            .columns = columns,
            .results = {.scalars = scalars,
                        .origin = {.row0 = 0, .column0 = 0, .batch = batch},
                        .operands = operands_of<typename Output<Kernel, partial>::Target>(args)}};
}

// A tile of the same from this row and column on, of no more than `most` rows and columns, as far as it exists.
template <class Kernel, int most>
__device__ inline Output<Kernel, is_partial<Kernel>, int> output_tile(const GemmArgs& args, int batch, int split, int first_row,
                                                                      int first_column) {
    constexpr bool partial = is_partial<Kernel>;
    using C = typename Output<Kernel, partial, int>::C;
    const i64 ld = partial ? workspace_ld(args.n) : args.ldc;
    const OutputScalars<Kernel> scalars = partial ? OutputScalars<Kernel>{.alpha = 1, .beta = 0} : output_scalars<Kernel>(args);
    const i64 row0 = first_row;
    const i64 column0 = first_column;
    const i64 part = number_of_part<Kernel>(args, batch, split);
    const auto matrix = [&] {
        if constexpr (partial)
            return static_cast<C*>(args.workspace) + part * args.m * ld;
        else
            return matrix_c<Kernel>(args, batch);
    };
    // The columns are written out where they are used: as a variable they are read before the sums are multiplied by alpha, and the stores
    // of a tile with odd rows took 1% of a product longer.
    return {.first = matrix() + row0 * ld + column0,
            .ld = ld,
            .rows = static_cast<int>(rows_of_c<Kernel>(args) - row0 < most ? rows_of_c<Kernel>(args) - row0 : most),
            .columns = static_cast<int>(columns_of_c<Kernel>(args) - column0 < most ? columns_of_c<Kernel>(args) - column0 : most),
            .results = {.scalars = scalars,
                        .origin = {.row0 = row0, .column0 = column0, .batch = batch},
                        .operands = operands_of<typename Output<Kernel, partial, int>::Target>(args)}};
}

template <class Kernel>
__device__ inline Output<Kernel, is_partial<Kernel>> output_of(const GemmArgs& args, const WorkItem& item) {
    return output_of<Kernel>(args, item.batch, item.split, args.one);
}

// Calls store<guarded>(): with checks of the matrix's edges where the boundary mode and the tile's place want them.
template <class Kernel, class Store>
__device__ inline void store_by_boundary(const GemmArgs& args, const WorkItem& item, Store&& store) {
    const bool inside = item.row0 + Kernel::config.block_m <= args.m && item.column0 + Kernel::config.block_n <= args.n;
    if constexpr (Kernel::config.boundary == boundary::exact) {
        store.template operator()<false>();
    } else if constexpr (Kernel::config.boundary == boundary::guarded) {
        store.template operator()<true>();
    } else {
        if (inside)
            store.template operator()<false>();
        else
            store.template operator()<true>();
    }
}

}  // namespace tmm
