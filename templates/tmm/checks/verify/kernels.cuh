// Kernels that make operands, compute the reference in double precision and compare results with it. They are plain on
// purpose: no shared memory, no barriers, one element after the other, so that they can be trusted to judge the others.
#pragma once

#include "tmm/checks/verify/args.h"
#include "tmm/checks/verify/epilogue.h"
#include "tmm/checks/verify/sums.h"
#include "tmm/number/number.cuh"

namespace tmm::verify {

__device__ inline i64 thread_number() {
    return static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline i64 thread_count() {
    return static_cast<i64>(gridDim.x) * blockDim.x;
}

__device__ inline u64 bits_of(double value) {
    return static_cast<u64>(__double_as_longlong(value));
}
__device__ inline unsigned bits_of(float value) {
    return static_cast<unsigned>(__float_as_int(value));
}
__device__ inline unsigned bits_of(Half value) {
    return value.bits;
}
__device__ inline unsigned bits_of(Bfloat16 value) {
    return value.bits;
}

__device__ inline unsigned bits_of(unsigned value) {
    return value;
}
__device__ inline unsigned bits_of(signed char value) {
    return static_cast<unsigned char>(value);
}

// Calls body, which depends on a type, with a value of that type.
template <class Body>
__device__ inline auto with_type(ElementType type, const Body& body) {
    switch (type) {
        case ElementType::f16: return body(Half{});
        case ElementType::bf16: return body(Bfloat16{});
        case ElementType::f64: return body(double{});
        case ElementType::s8: return body(static_cast<signed char>(0));
        case ElementType::s32: return body(0u);
        case ElementType::f32: break;
    }
    return body(float{});
}

// A word of a buffer, or an element of a matrix, by its bits.
__device__ inline u64 load_bits(const NumberFormat& format, const void* words, i64 index) {
    switch (format.bytes) {
        case 1: return static_cast<const unsigned char*>(words)[index];
        case 2: return static_cast<const unsigned short*>(words)[index];
        case 4: return static_cast<const unsigned*>(words)[index];
        default: return static_cast<const u64*>(words)[index];
    }
}
__device__ inline void store_bits(const NumberFormat& format, void* words, i64 index, u64 bits) {
    switch (format.bytes) {
        case 1: static_cast<unsigned char*>(words)[index] = static_cast<unsigned char>(bits); break;
        case 2: static_cast<unsigned short*>(words)[index] = static_cast<unsigned short>(bits); break;
        case 4: static_cast<unsigned*>(words)[index] = static_cast<unsigned>(bits); break;
        default: static_cast<u64*>(words)[index] = bits;
    }
}

// The number, which fits a float where the type is no wider, rounded to the type.
__device__ inline double rounded_to(ElementType type, double value) {
    return with_type(type, [&](auto element) { return to_number<double>(to_element<decltype(element)>(value)); });
}
__device__ inline double load_value(ElementType type, const void* elements, i64 index) {
    return with_type(type, [&](auto element) { return to_number<double>(static_cast<const decltype(element)*>(elements)[index]); });
}

// The most that rounding a sum to the format of C can have changed it, judged by the value that it came to: half the distance between
// numbers of that size. Where C is as wide as the sums the chain of roundings counts it already.
__device__ inline double rounding_to(const NumberFormat& format, double value) {
    int exponent = static_cast<int>(__double_as_longlong(fabs(value)) >> 52) - 1023;
    if (exponent < format.least_exponent) exponent = format.least_exponent;
    return __longlong_as_double(static_cast<long long>(exponent - format.digits + 1023) << 52);
}

template <class T>
struct ReferenceSumOf {
    using Type = SumOfDoubles;
};
template <>
struct ReferenceSumOf<double> {
    using Type = SumOfTwoDoubles;
};

// The element that stands that many elements behind the matrix's first.
__device__ inline u64 content_bits(ElementType type, int content, u64 seed, i64 offset) {
    if (content == contents::unwritten) return format_of(type).unwritten;
    const double value = content_value(type, content, seed, offset);
    return with_type(type, [&](auto element) { return u64{bits_of(to_element<decltype(element)>(value))}; });
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
    const NumberFormat format = format_of(type);
    for (i64 word = thread_number(); word < args.region.words; word += thread_count()) {
        const i64 offset = element_offset(args.region, word);
        store_bits(format, args.region.buffer, word, offset < 0 ? format.poison : content_bits(type, args.content, args.seed, offset));
    }
}

__device__ inline void check(const CheckArgs& args) {
    const ElementType type = args.region.type;
    const NumberFormat format = format_of(type);
    u64 zones = 0;
    u64 elements = 0;
    u64 first_zone = ~0ull;
    u64 first_element = ~0ull;
    for (i64 word = thread_number(); word < args.region.words; word += thread_count()) {
        const i64 offset = element_offset(args.region, word);
        const u64 bits = load_bits(format, args.region.buffer, word);
        if (offset < 0) {
            if (bits != format.poison && zones++ == 0) first_zone = static_cast<u64>(word);
        } else {
            const bool bad = args.unchanged ? bits != content_bits(type, args.content, args.seed, offset) : !format.is_finite(bits);
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
    using Sum = typename ReferenceSumOf<T>::Type;
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
        Sum sum[per_thread][per_thread];
        Sum magnitude[per_thread][per_thread];
        for (i64 k = 0; k < args.k; ++k) {
            double x[per_thread];
            double y[per_thread];
            for (int i = 0; i < per_thread; ++i) {
                x[i] = to_number<double>(a[i][k * args.a_step_k]);
                y[i] = to_number<double>(b[i][k * args.b_step_k]);
            }
            for (int i = 0; i < per_thread; ++i) {
                for (int j = 0; j < per_thread; ++j) {
                    sum[i][j].add(x[i], y[j]);
                    magnitude[i][j].add(fabs(x[i]), fabs(y[j]));
                }
            }
        }
        for (int i = 0; i < per_thread; ++i) {
            for (int j = 0; j < per_thread; ++j) {
                const i64 row = first_row + i * apart;
                const i64 column = first_column + j * apart;
                if (row >= args.row_count || column >= args.n) continue;
                const i64 place = (batch * args.row_count + row) * args.n + column;
                args.sum[place] = sum[i][j].value;
                if (args.rest) args.rest[place] = sum[i][j].rest();
                if (args.magnitude) args.magnitude[place] = magnitude[i][j].value;
            }
        }
    }
}

// What is added to an element of C, and to what that has become.
struct Added {
    double bias;
    double residual;
    // The bias of what a gate is for.
    double bias_of_value;
};
__device__ inline Added added_to(const CompareArgs& args, i64 batch, i64 row, i64 column) {
    const CompareEpilogue& epilogue = args.epilogue;
    Added added = {0, 0, 0};
    const auto bias_at = [&](i64 place) { return content_value(epilogue.type_bias, args.content, epilogue.seed_bias, place); };
    if (epilogue.bias != BiasAxis::none) {
        added.bias = bias_at(epilogue.bias == BiasAxis::rows ? row : column);
        const i64 row_of_value = gates_rows(epilogue.activation) ? args.m + row : row;
        const i64 column_of_value = gates_columns(epilogue.activation) ? args.n + column : column;
        if (is_gate(epilogue.activation)) added.bias_of_value = bias_at(epilogue.bias == BiasAxis::rows ? row_of_value : column_of_value);
    }
    if (epilogue.residual)
        added.residual =
            content_value(args.type, args.content, epilogue.seed_residual, batch * epilogue.stride_r + row * epilogue.ldr + column);
    return added;
}

// alpha * sum + beta * C + bias, and what the sum of these doubles lacks where the sums are wider.
__device__ inline TwoDoubles scaled_sum(const CompareArgs& args, i64 sum, double before, double bias) {
    if (!args.rest) return {args.alpha * args.sum[sum] + args.beta * before + bias, 0};
    const TwoDoubles product = exact_product(args.alpha, args.sum[sum]);
    const TwoDoubles of_c = exact_product(args.beta, before);
    const TwoDoubles first = exact_sum(product.value, of_c.value);
    const TwoDoubles second = exact_sum(first.value, bias);
    return {second.value, second.lost + first.lost + product.lost + of_c.lost + args.alpha * args.rest[sum]};
}

// Holds an element of the other triangle what it held before or, where C is symmetric, what its mirror image holds?
__device__ inline bool keeps_other_triangle(const CompareArgs& args, const NumberFormat& format, i64 batch, i64 row, i64 column) {
    const i64 offset = batch * args.stride_c + row * args.ldc + column;
    const u64 bits = load_bits(format, args.c, offset);
    if (args.result == Result::symmetric) return bits == load_bits(format, args.c, batch * args.stride_c + column * args.ldc + row);
    return bits == content_bits(args.type, args.beta == 0 ? contents::unwritten : args.content, args.seed, offset);
}

__device__ inline void compare(const CompareArgs& args) {
    u64 count = 0;
    u64 first = ~0ull;
    double worst = 0;
    const NumberFormat format = format_of(args.type);
    const i64 elements = args.batch * args.row_count * args.n;
    for (i64 index = thread_number(); index < elements; index += thread_count()) {
        const i64 row_number = index / args.n % args.row_count;
        const i64 row = args.rows ? args.rows[row_number] : row_number;
        const i64 column = index % args.n;
        const i64 batch = index / (args.n * args.row_count);
        const i64 offset = batch * args.stride_c + row * args.ldc + column;
        if (!is_computed(args.result, row, column)) {
            if (!keeps_other_triangle(args, format, batch, row, column) && count++ == 0) first = static_cast<u64>(index);
            continue;
        }
        const double before = args.beta == 0 ? 0.0 : content_value(args.type, args.content, args.seed, offset);
        const Added added = added_to(args, batch, row, column);
        const Activation activation = args.epilogue.activation;
        const bool gate = is_gate(activation);
        const i64 rows_of_sums = args.row_count * products_of_row(activation);
        const i64 columns_of_sums = args.n * products_of_column(activation);
        const i64 sum = (batch * rows_of_sums + row_number) * columns_of_sums + column;
        const i64 sum_of_value = sum + (gates_rows(activation) ? args.row_count * args.n : args.n);
        const TwoDoubles exact = scaled_sum(args, sum, before, added.bias);
        const double biased = exact.value;
        const double value_of_gate = gate ? args.alpha * args.sum[sum_of_value] + added.bias_of_value : 0.0;
        const double activated = gate ? gated_in_double(biased, value_of_gate) : activated_in_double(activation, biased);
        const double expected = activated + added.residual;
        const double value = load_value(args.type, args.c, offset);
        // Where nothing follows the sum, what it lacks counts as well.
        const double lost = activation == Activation::none && !args.epilogue.residual ? exact.lost : 0.0;
        bool good;
        if (format.is_integer) {
            good = load_bits(format, args.c, offset) == wrapped_sum(args.alpha, args.sum[sum], args.beta, before);
        } else if (args.bound_factor == 0 && keeps_integers(activation)) {
            good = value == rounded_to(args.type, expected);
        } else {
            // Sums of small whole numbers are exact.
            const auto bound_of_sum = [&](i64 at) {
                return args.bound_factor == 0 ? 0 : args.bound_factor * (fabs(args.alpha) * args.magnitude[at] + fabs(args.beta * before));
            };
            double bound = bound_of_sum(sum);
            if (gate)
                bound = gate_error(biased, bound, value_of_gate, bound_of_sum(sum_of_value), added.residual, args.roundoff);
            else if (args.epilogue.bias != BiasAxis::none || activation != Activation::none || args.epilogue.residual)
                bound = epilogue_error(activation, bound, biased, activated, added.residual, args.roundoff);
            if (args.rounds_result) bound += rounding_to(format, value);
            const double error = fabs((value - expected) - lost);
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
