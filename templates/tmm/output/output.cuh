// The one place where sums become elements of C. Whoever has a sum hands it over with its row and column of C, which are known here with
// the member of the batch, so that an epilogue has to be written here alone.
#pragma once

#include "tmm/number/element.cuh"
#include "tmm/ptx.cuh"
#include "tmm/tile/vector.cuh"
#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// Sums become results in C, or go as they are to the workspace where another kernel adds up the parts of K.
template <KernelConfig config>
constexpr bool is_partial = config.split_k > config.cluster;

// A tile's first row and column of C, and the member of the batch.
struct TileOfC {
    i64 row0;
    i64 column0;
    i64 batch;
};

// Two results rounded to elements of 16 bits, which stand in one word.
template <ElementType type>
__device__ inline unsigned rounded_pair(float first, float second) {
    return ptx::cvt_rn_pair<type>(first, second);
}

struct OutputScalars {
    float alpha;
    float beta;
};

__device__ inline OutputScalars output_scalars(const GemmArgs& args) {
    return {static_cast<float>(args.alpha), static_cast<float>(args.beta)};
}
// C, or a partial result in the workspace, or a tile of either: rows and columns are counted from its first ones. Index is a type that
// holds them.
template <KernelSignature signature, bool partial = false, class Index = i64>
struct Output {
    static constexpr KernelSignature target = partial ? partial_result_of(signature) : signature;
    using C = Element<target.type_c>;

    C* first;
    i64 ld;
    // How many rows and columns exist.
    Index rows;
    Index columns;
    OutputScalars scalars;
    // The place in C of the first row and column.
    TileOfC origin;

    __device__ C* at(Index row, Index column) const { return first + row * ld + column; }
    // Do these rows and columns exist?
    __device__ bool has(Index row_end, Index column_end) const { return row_end <= rows && column_end <= columns; }
    // With beta = 0 C is never read.
    __device__ bool reads_c() const { return target.reads_c && scalars.beta != 0.0f; }

    // The result of a sum where C holds `before`, not yet rounded: what an element of C becomes is said here alone. Where C is not read,
    // `before` is anything and never counts, so that NaN there does not spread. The row and column may be ones that C does not have.
    __device__ float result(i64, i64, i64, float sum, C before) const {
        const float product = scalars.alpha * sum;
        return reads_c() ? fmaf(scalars.beta, to_float(before), product) : product;
    }
    // The same, for a row and column that are counted from the first ones.
    __device__ float result_at(Index row, Index column, float sum, C before) const {
        return result(origin.row0 + row, origin.column0 + column, origin.batch, sum, before);
    }
    __device__ C element_at(Index row, Index column, float sum, C before) const {
        return from_float<C>(result_at(row, column, sum, before));
    }

    // Calls visit with this, or with the same of an alpha that is known to be 1, as it is most often: its products would be up to a third
    // of the instructions of some writers.
    template <class Visit>
    __device__ void by_alpha(Visit&& visit) const {
        if (scalars.alpha == 1.0f)
            visit(with_alpha_of_1());
        else
            visit(*this);
    }
    __device__ Output with_alpha_of_1() const {
        Output same = *this;
        same.scalars.alpha = 1.0f;
        return same;
    }

    __device__ void store_element(Index row, Index column, float sum) const {
        C* const c = at(row, column);
        C before = {};
        if (reads_c()) before = *c;
        *c = element_at(row, column, sum, before);
    }

    // Stores `width` neighbouring elements of a row, of which the first `valid` exist.
    template <int width>
    __device__ void store_elements(Index row, Index column, const float* sums, int valid) const {
        constexpr int aligned = target.align_c / static_cast<int>(sizeof(C));
        constexpr int access = aligned < width ? aligned : width;
        if constexpr (access > 1) {
            if (valid >= width) {
#pragma unroll
                for (int begin = 0; begin < width; begin += access) store_vector_at<access>(row, column + begin, sums + begin);
                return;
            }
        }
#pragma unroll
        for (int i = 0; i < width; ++i)
            if (i < valid) store_element(row, column + i, sums[i]);
    }

    // Stores those of `width` neighbouring elements of a row that exist. guarded: some may not.
    template <int width, bool guarded>
    __device__ void store(Index row, Index column, const float* sums) const {
        if (guarded && row >= rows) return;
        const Index left = columns - column;
        store_elements<width>(row, column, sums, !guarded || left >= width ? width : static_cast<int>(left));
    }

private:
    template <int width>
    __device__ void store_vector_at(Index row, Index column, const float* sums) const {
        C* const c = at(row, column);
        Vector<C, width> results = {};
        if (reads_c()) results = load_vector<width>(c);
#pragma unroll
        for (int i = 0; i < width; ++i) results.element[i] = element_at(row, column + i, sums[i], results.element[i]);
        store_vector_global(c, results);
    }
};

// All of C of a member of the batch.
template <KernelSignature signature>
__device__ inline Output<signature> output_to_c(const GemmArgs& args, const OutputScalars& scalars, i64 batch) {
    using Result = Output<signature>;
    return {.first = static_cast<typename Result::C*>(args.c) + batch * args.stride_c,
            .ld = args.ldc,
            .rows = args.m,
            .columns = args.n,
            .scalars = scalars,
            .origin = {.row0 = 0, .column0 = 0, .batch = batch}};
}
template <KernelSignature signature>
__device__ inline Output<signature> output_to_c(const GemmArgs& args, i64 batch) {
    return output_to_c<signature>(args, output_scalars(args), batch);
}

// The same, or, where the kernel multiplies parts of K for another one to add up, the partial result of this part. factor: a 1 that the
// compiler may know or not (families/simt/kernel.cuh, store_part).
template <KernelSignature signature, KernelConfig config>
__device__ inline Output<signature, is_partial<config>> output_of(const GemmArgs& args, i64 batch, i64 split, float factor) {
    if constexpr (is_partial<config>) {
        const i64 ld = workspace_ld(args.n);
        const i64 part = (batch * args.split_k + split) / config.cluster;
        return {.first = static_cast<float*>(args.workspace) + part * args.m * ld,
                .ld = ld,
                .rows = args.m,
                .columns = args.n,
                .scalars = {.alpha = factor, .beta = 0.0f},
                .origin = {.row0 = 0, .column0 = 0, .batch = batch}};
    } else {
        return output_to_c<signature>(args, batch);
    }
}

// A tile of the same from this row and column on, of no more than `most` rows and columns, as far as it exists.
template <KernelSignature signature, KernelConfig config, int most>
__device__ inline Output<signature, is_partial<config>, int> output_tile(const GemmArgs& args, int batch, int split, int row0,
                                                                         int column0) {
    const auto all = output_of<signature, config>(args, batch, split, 1.0f);
    return {.first = all.at(row0, column0),
            .ld = all.ld,
            .rows = static_cast<int>(args.m - row0 < most ? args.m - row0 : most),
            .columns = static_cast<int>(args.n - column0 < most ? args.n - column0 : most),
            .scalars = all.scalars,
            .origin = {row0, column0, batch}};
}

}  // namespace tmm
