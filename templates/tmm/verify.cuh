// Kernels that make operands, compute the reference in double precision and compare results with it. They are plain on
// purpose: no shared memory, no barriers, one element after the other, so that they can be trusted to judge the others.
#pragma once

#include "tmm/verify_args.h"

namespace tmm::verify {

__device__ inline i64 thread_number() {
    return static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline i64 thread_count() {
    return static_cast<i64>(gridDim.x) * blockDim.x;
}

__device__ inline unsigned bits_of(float value) {
    return static_cast<unsigned>(__float_as_int(value));
}
__device__ inline float value_of(unsigned bits) {
    return __int_as_float(static_cast<int>(bits));
}

// The element that stands that many elements behind the matrix's first.
__device__ inline unsigned content_bits(int content, u64 seed, i64 offset) {
    return content == contents::unwritten ? kUnwritten : bits_of(content_value(content, seed, offset));
}

// How many elements behind the first a word stands; -1 in a guard zone or between rows or matrices.
__device__ inline i64 element_offset(const MatrixRegion& region, i64 word) {
    const i64 offset = word - region.first;
    if (offset < 0 || offset >= region.span) return -1;
    if (region.interleaved) return offset;
    const i64 within = region.stride > 0 ? offset % region.stride : offset;
    return within / region.ld < region.rows && within % region.ld < region.columns ? offset : -1;
}

__device__ inline void report(Finding* finding, u64 count, u64 first) {
    if (count == 0) return;
    atomicAdd(&finding->count, count);
    atomicMin(&finding->first, first);
}

__device__ inline void fill(const FillArgs& args) {
    unsigned* words = static_cast<unsigned*>(args.region.buffer);
    for (i64 word = thread_number(); word < args.region.words; word += thread_count()) {
        const i64 offset = element_offset(args.region, word);
        words[word] = offset < 0 ? kPoison : content_bits(args.content, args.seed, offset);
    }
}

__device__ inline void check(const CheckArgs& args) {
    const unsigned* words = static_cast<const unsigned*>(args.region.buffer);
    u64 zones = 0;
    u64 elements = 0;
    u64 first_zone = ~0ull;
    u64 first_element = ~0ull;
    for (i64 word = thread_number(); word < args.region.words; word += thread_count()) {
        const i64 offset = element_offset(args.region, word);
        const unsigned bits = words[word];
        if (offset < 0) {
            if (bits != kPoison && zones++ == 0) first_zone = static_cast<u64>(word);
        } else {
            const bool bad = args.unchanged ? bits != content_bits(args.content, args.seed, offset) : (bits & 0x7f800000u) == 0x7f800000u;
            if (bad && elements++ == 0) first_element = static_cast<u64>(word);
        }
    }
    report(args.zones, zones, first_zone);
    report(args.elements, elements, first_element);
}

// A block of 256 threads computes 64 rows by 64 columns; neighbouring threads take neighbouring columns. What rows and columns
// lie outside is computed from the last ones inside and not stored.
__device__ inline void reference(const ReferenceArgs& args) {
    constexpr int per_thread = 4;
    constexpr int apart = 16;
    constexpr int tile = per_thread * apart;
    const i64 tiles_m = (args.row_count + tile - 1) / tile;
    const i64 tiles_n = (args.n + tile - 1) / tile;
    const int thread_row = static_cast<int>(threadIdx.x) / apart;
    const int thread_column = static_cast<int>(threadIdx.x) % apart;

    for (i64 index = blockIdx.x; index < tiles_m * tiles_n * args.batch; index += gridDim.x) {
        const i64 batch = index / (tiles_m * tiles_n);
        const i64 first_row = index / tiles_n % tiles_m * tile + thread_row;
        const i64 first_column = index % tiles_n * tile + thread_column;
        if (first_row >= args.row_count || first_column >= args.n) continue;
        const float* a[per_thread];
        const float* b[per_thread];
        for (int i = 0; i < per_thread; ++i) {
            const i64 row = first_row + i * apart < args.row_count ? first_row + i * apart : args.row_count - 1;
            const i64 column = first_column + i * apart < args.n ? first_column + i * apart : args.n - 1;
            a[i] = static_cast<const float*>(args.a) + batch * args.stride_a + (args.rows ? args.rows[row] : row) * args.a_step_m;
            b[i] = static_cast<const float*>(args.b) + batch * args.stride_b + column * args.b_step_n;
        }
        double sum[per_thread][per_thread] = {};
        double magnitude[per_thread][per_thread] = {};
        for (i64 k = 0; k < args.k; ++k) {
            double x[per_thread];
            double y[per_thread];
            for (int i = 0; i < per_thread; ++i) {
                x[i] = static_cast<double>(a[i][k * args.a_step_k]);
                y[i] = static_cast<double>(b[i][k * args.b_step_k]);
            }
            for (int i = 0; i < per_thread; ++i) {
                for (int j = 0; j < per_thread; ++j) {
                    sum[i][j] += x[i] * y[j];
                    magnitude[i][j] += fabs(x[i]) * fabs(y[j]);
                }
            }
        }
        for (int i = 0; i < per_thread; ++i) {
            for (int j = 0; j < per_thread; ++j) {
                const i64 row = first_row + i * apart;
                const i64 column = first_column + j * apart;
                if (row >= args.row_count || column >= args.n) continue;
                const i64 place = (batch * args.row_count + row) * args.n + column;
                args.sum[place] = sum[i][j];
                if (args.magnitude) args.magnitude[place] = magnitude[i][j];
            }
        }
    }
}

__device__ inline void compare(const CompareArgs& args) {
    u64 count = 0;
    u64 first = ~0ull;
    double worst = 0;
    const i64 elements = args.batch * args.row_count * args.n;
    for (i64 index = thread_number(); index < elements; index += thread_count()) {
        const i64 row = index / args.n % args.row_count;
        const i64 offset =
            index / (args.n * args.row_count) * args.stride_c + (args.rows ? args.rows[row] : row) * args.ldc + index % args.n;
        const double before = args.beta == 0 ? 0.0 : static_cast<double>(content_value(args.content, args.seed, offset));
        const double expected = args.alpha * args.sum[index] + args.beta * before;
        const double value = static_cast<double>(static_cast<const float*>(args.c)[offset]);
        bool good;
        if (args.bound_factor == 0) {
            good = value == static_cast<double>(static_cast<float>(expected));
        } else {
            const double bound = args.bound_factor * (fabs(args.alpha) * args.magnitude[index] + fabs(args.beta * before));
            const double error = fabs(value - expected);
            const double ratio = error == 0 ? 0.0 : error / bound;
            // Infinity stands for a NaN too.
            if (!(ratio <= worst)) worst = ratio > worst ? ratio : __longlong_as_double(0x7ff0000000000000ll);
            good = ratio <= 1;
        }
        if (!good && count++ == 0) first = static_cast<u64>(index);
    }
    report(args.finding, count, first);
    if (worst > 0) atomicMax(&args.finding->worst_ratio_bits, static_cast<u64>(__double_as_longlong(worst)));
}

}  // namespace tmm::verify

extern "C" __global__ void tmm_verify_fill(const tmm::FillArgs args) {
    tmm::verify::fill(args);
}
extern "C" __global__ void tmm_verify_check(const tmm::CheckArgs args) {
    tmm::verify::check(args);
}
extern "C" __global__ void tmm_verify_reference(const tmm::ReferenceArgs args) {
    tmm::verify::reference(args);
}
extern "C" __global__ void tmm_verify_compare(const tmm::CompareArgs args) {
    tmm::verify::compare(args);
}
