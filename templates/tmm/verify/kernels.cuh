// Kernels that make operands, compute the reference in double precision and compare results with it. They are plain on
// purpose: no shared memory, no barriers, one element after the other, so that they can be trusted to judge the others.
#pragma once

#include "tmm/number/element.cuh"
#include "tmm/verify/args.h"

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

// Calls body, which depends on a type, with a value of that type.
template <class Body>
__device__ inline auto with_type(ElementType type, const Body& body) {
    switch (type) {
        case ElementType::f16: return body(Half{});
        case ElementType::bf16: return body(Bfloat16{});
        default: return body(float{});
    }
}

// A word of a buffer, or an element of a matrix, by its bits.
__device__ inline unsigned load_bits(ElementType type, const void* words, i64 index) {
    return is_16_bit(type) ? static_cast<const unsigned short*>(words)[index] : static_cast<const unsigned*>(words)[index];
}
__device__ inline void store_bits(ElementType type, void* words, i64 index, unsigned bits) {
    if (is_16_bit(type))
        static_cast<unsigned short*>(words)[index] = static_cast<unsigned short>(bits);
    else
        static_cast<unsigned*>(words)[index] = bits;
}

// The float rounded to the type.
__device__ inline float rounded_to(ElementType type, float value) {
    return with_type(type, [&](auto element) { return to_float(from_float<decltype(element)>(value)); });
}
__device__ inline double load_value(ElementType type, const void* elements, i64 index) {
    return with_type(type,
                     [&](auto element) { return static_cast<double>(to_float(static_cast<const decltype(element)*>(elements)[index])); });
}

__device__ inline bool is_finite(ElementType type, unsigned bits) {
    const unsigned exponent = type == ElementType::f16 ? 0x7c00u : type == ElementType::bf16 ? 0x7f80u : 0x7f800000u;
    return (bits & exponent) != exponent;
}

// The most that rounding a float to the type of C can have changed it, judged by the value that it came to: half the distance between
// numbers of that size. Where C is a float the chain of roundings counts it already.
__device__ inline double rounding_to(ElementType type, double value) {
    if (!is_16_bit(type)) return 0;
    int exponent = static_cast<int>(__double_as_longlong(fabs(value)) >> 52) - 1023;
    if (exponent < smallest_exponent(type)) exponent = smallest_exponent(type);
    return __longlong_as_double(static_cast<long long>(exponent - significant_bits(type) + 1023) << 52);
}

// The element that stands that many elements behind the matrix's first.
__device__ inline unsigned content_bits(ElementType type, int content, u64 seed, i64 offset) {
    if (content == contents::unwritten) return unwritten_of(type);
    const float value = content_value(type, content, seed, offset);
    switch (type) {
        case ElementType::f16: return from_float<Half>(value).bits;
        case ElementType::bf16: return from_float<Bfloat16>(value).bits;
        default: return bits_of(value);
    }
}

// How many elements behind the first a word stands; -1 in a guard zone or between rows or matrices.
__device__ inline i64 element_offset(const MatrixRegion& region, i64 word) {
    const i64 offset = word - region.first;
    return holds_element(region, offset) ? offset : -1;
}

__device__ inline void report(Finding* finding, u64 count, u64 first) {
    if (count == 0) return;
    atomicAdd(&finding->count, count);
    atomicMin(&finding->first, first);
}

__device__ inline void fill(const FillArgs& args) {
    const ElementType type = args.region.type;
    for (i64 word = thread_number(); word < args.region.words; word += thread_count()) {
        const i64 offset = element_offset(args.region, word);
        store_bits(type, args.region.buffer, word, offset < 0 ? poison_of(type) : content_bits(type, args.content, args.seed, offset));
    }
}

__device__ inline void check(const CheckArgs& args) {
    const ElementType type = args.region.type;
    u64 zones = 0;
    u64 elements = 0;
    u64 first_zone = ~0ull;
    u64 first_element = ~0ull;
    for (i64 word = thread_number(); word < args.region.words; word += thread_count()) {
        const i64 offset = element_offset(args.region, word);
        const unsigned bits = load_bits(type, args.region.buffer, word);
        if (offset < 0) {
            if (bits != poison_of(type) && zones++ == 0) first_zone = static_cast<u64>(word);
        } else {
            const bool bad = args.unchanged ? bits != content_bits(type, args.content, args.seed, offset) : !is_finite(type, bits);
            if (bad && elements++ == 0) first_element = static_cast<u64>(word);
        }
    }
    report(args.zones, zones, first_zone);
    report(args.elements, elements, first_element);
}

// T is the type of A and B. A block of 256 threads computes 64 rows by 64 columns; neighbouring threads take neighbouring columns. Rows and
// columns that lie outside are computed from the last ones inside and not stored.
template <class T>
__device__ inline void reference(const ReferenceArgs& args) {
    constexpr int tile = kReferenceTile;
    constexpr int apart = 16;
    constexpr int per_thread = tile / apart;
    static_assert(apart * apart == kReferenceThreads);
    const i64 tiles_m = (args.row_count + tile - 1) / tile;
    const i64 tiles_n = (args.n + tile - 1) / tile;
    const int thread_row = static_cast<int>(threadIdx.x) / apart;
    const int thread_column = static_cast<int>(threadIdx.x) % apart;

    for (i64 index = blockIdx.x; index < tiles_m * tiles_n * args.batch; index += gridDim.x) {
        const i64 batch = index / (tiles_m * tiles_n);
        const i64 first_row = index / tiles_n % tiles_m * tile + thread_row;
        const i64 first_column = index % tiles_n * tile + thread_column;
        if (first_row >= args.row_count || first_column >= args.n) continue;
        const T* a[per_thread];
        const T* b[per_thread];
        for (int i = 0; i < per_thread; ++i) {
            const i64 row = first_row + i * apart < args.row_count ? first_row + i * apart : args.row_count - 1;
            const i64 column = first_column + i * apart < args.n ? first_column + i * apart : args.n - 1;
            a[i] = static_cast<const T*>(args.a) + batch * args.stride_a + (args.rows ? args.rows[row] : row) * args.a_step_m;
            b[i] = static_cast<const T*>(args.b) + batch * args.stride_b + column * args.b_step_n;
        }
        double sum[per_thread][per_thread] = {};
        double magnitude[per_thread][per_thread] = {};
        for (i64 k = 0; k < args.k; ++k) {
            double x[per_thread];
            double y[per_thread];
            for (int i = 0; i < per_thread; ++i) {
                x[i] = static_cast<double>(to_float(a[i][k * args.a_step_k]));
                y[i] = static_cast<double>(to_float(b[i][k * args.b_step_k]));
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
        const double before = args.beta == 0 ? 0.0 : static_cast<double>(content_value(args.type, args.content, args.seed, offset));
        const double expected = args.alpha * args.sum[index] + args.beta * before;
        const double value = load_value(args.type, args.c, offset);
        bool good;
        if (args.bound_factor == 0) {
            good = value == static_cast<double>(rounded_to(args.type, static_cast<float>(expected)));
        } else {
            const double bound =
                args.bound_factor * (fabs(args.alpha) * args.magnitude[index] + fabs(args.beta * before)) + rounding_to(args.type, value);
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
    tmm::verify::with_type(args.type, [&](auto element) { tmm::verify::reference<decltype(element)>(args); });
}
extern "C" __global__ void tmm_verify_compare(const tmm::CompareArgs args) {
    tmm::verify::compare(args);
}
