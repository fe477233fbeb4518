// A cuBLAS for tests: its functions multiply by a loop, in double, in the process's own memory, count calls and keep what handles and
// descriptors were told.
#include "cublas_stand_in.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>

#include "generator/problem/number_codec.h"

#define TMM_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

struct Handle {
    void* stream = nullptr;
    int pointer_mode = 0;
    int math_mode = 0;
    int sm_count_target = 0;
};

// A descriptor of either kind: its attributes' bytes.
using Descriptor = std::map<int, std::vector<unsigned char>>;

long calls = 0;
int status_to_return = 0;
bool throws = false;
std::vector<std::uint64_t> arguments_of_last;

template <class Value>
std::uint64_t bits_of(Value value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class... Arguments>
void note(Arguments... arguments) {
    ++calls;
    arguments_of_last = {bits_of(arguments)...};
    if (throws) throw 7;
}

enum { kF32 = 0, kF64 = 1, kF16 = 2, kS8 = 3, kS32 = 10, kBf16 = 14 };

double load(const void* matrix, int type, std::int64_t at) {
    if (type == kF32) return static_cast<const float*>(matrix)[at];
    if (type == kF64) return static_cast<const double*>(matrix)[at];
    if (type == kS8) return static_cast<const signed char*>(matrix)[at];
    if (type == kS32) return static_cast<const std::int32_t*>(matrix)[at];
    if (type == kF16) return tmm::decoded(tmm::ElementType::f16, static_cast<const std::uint16_t*>(matrix)[at]);
    return std::bit_cast<float>(std::uint32_t{static_cast<const std::uint16_t*>(matrix)[at]} << 16);
}
void store(void* matrix, int type, std::int64_t at, double value) {
    if (type == kF32) static_cast<float*>(matrix)[at] = static_cast<float>(value);
    if (type == kF64) static_cast<double*>(matrix)[at] = value;
    if (type == kS32) static_cast<std::int32_t*>(matrix)[at] = static_cast<std::int32_t>(value);
    if (type == kF16) static_cast<std::uint16_t*>(matrix)[at] = static_cast<std::uint16_t>(tmm::encoded(tmm::ElementType::f16, value));
    // The tests' values are integers that BF16 holds, but for those of a GELU.
    if (type == kBf16)
        static_cast<std::uint16_t*>(matrix)[at] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
}
bool is_known(int type) {
    return type == kF32 || type == kF64 || type == kF16 || type == kBf16 || type == kS8 || type == kS32;
}

struct Operand {
    const void* data;
    int type;
    int op;
    std::int64_t ld;
    std::int64_t stride;

    double at(std::int64_t row, std::int64_t column, std::int64_t member) const {
        return load(data, type, member * stride + (op == 0 ? row + column * ld : column + row * ld));
    }
};

// What cublasLt does to a sum besides alpha and beta.
struct Epilogue {
    bool relu = false;
    bool gelu = false;
    const void* bias = nullptr;
    int type = kF32;

    double apply(double x, std::int64_t row) const {
        if (bias) x += load(bias, type, row);
        if (relu) x = std::max(x, 0.0);
        if (gelu) x = x / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
        return x;
    }
};

// Which elements of C are computed: those of a fill mode's triangle, or all.
enum { kLower = 0, kUpper = 1, kAll = 2 };

// Whether A and B are read where alpha is 0: cublasLt multiplies them by it, and cublasSgemm leaves them out.
enum class ZeroAlpha { multiplies, skips };

// Whatever the tests ask for that is no product of floats reaches this and does nothing: the call is what they look at.
int multiply(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch, double alpha, Operand a, Operand b, double beta, Operand c,
             void* d, int type, std::int64_t ld, std::int64_t stride, ZeroAlpha zero_alpha, const Epilogue& epilogue = {},
             int fill = kAll) {
    if (status_to_return != 0) return status_to_return;
    static const char* const slow = std::getenv("TMM_TEST_CUBLAS_US");
    if (slow) usleep(static_cast<useconds_t>(std::atoi(slow)));
    if (!is_known(a.type) || !is_known(b.type) || !is_known(type) || !a.data || !b.data || !d) return 0;
    for (std::int64_t member = 0; member < batch; ++member)
        for (std::int64_t column = 0; column < n; ++column)
            for (std::int64_t row = 0; row < m; ++row) {
                if ((fill == kLower && row < column) || (fill == kUpper && row > column)) continue;
                double sum = 0;
                for (std::int64_t i = 0; (alpha != 0 || zero_alpha == ZeroAlpha::multiplies) && i < k; ++i)
                    sum += a.at(row, i, member) * b.at(i, column, member);
                const std::int64_t at = member * stride + row + column * ld;
                store(d, type, at, epilogue.apply(alpha * sum + (beta == 0 ? 0 : beta * c.at(row, column, member)), row));
            }
    return 0;
}

// What the tests multiply: by scalars on the host, doubles of FP64, whole numbers of INT8 and floats of all other types.
bool is_product(const Handle* handle, const void* alpha, const void* beta, int type, int compute) {
    const bool doubles = compute == 70 || compute == 71;
    const bool whole = compute == 72 || compute == 73;
    return handle && handle->pointer_mode == 0 && alpha && beta && compute >= 68 && compute <= 78 && doubles == (type == kF64) &&
           whole == (type == kS8);
}

double scalar(const void* value, int type) {
    if (type == kS8) return *static_cast<const std::int32_t*>(value);
    return type == kF64 ? *static_cast<const double*>(value) : *static_cast<const float*>(value);
}

template <class Int>
int gemm(Handle* handle, int op_a, int op_b, Int m, Int n, Int k, const void* alpha, const void* a, int type_a, Int lda, long long stride_a,
         const void* b, int type_b, Int ldb, long long stride_b, const void* beta, void* c, int type_c, Int ldc, long long stride_c,
         Int batch, int compute) {
    if (!is_product(handle, alpha, beta, type_a, compute)) return status_to_return;
    return multiply(m, n, k, batch, scalar(alpha, type_a), {a, type_a, op_a, lda, stride_a}, {b, type_b, op_b, ldb, stride_b},
                    scalar(beta, type_a), {c, type_c, 0, ldc, stride_c}, c, type_c, ldc, stride_c, ZeroAlpha::skips);
}

// Real: the type of the matrices' addresses in the arrays.
template <class Int, class Real>
int gemm_of_arrays(Handle* handle, int op_a, int op_b, Int m, Int n, Int k, const void* alpha, const Real* const* a, int type_a, Int lda,
                   const Real* const* b, int type_b, Int ldb, const void* beta, Real* const* c, int type_c, Int ldc, Int batch,
                   int compute) {
    if (status_to_return != 0 || !a || !b || !c) return status_to_return;
    int status = 0;
    for (Int i = 0; i < batch && status == 0; ++i)
        status = gemm<Int>(handle, op_a, op_b, m, n, k, alpha, a[i], type_a, lda, 0, b[i], type_b, ldb, 0, beta, c[i], type_c, ldc, 0, 1,
                           compute);
    return status;
}

template <class Int>
int triangle(Handle* handle, int fill, int op, Int n, Int k, const void* alpha, const void* a, Int lda, const void* b, Int ldb,
             const void* beta, void* c, Int ldc, int type, int compute) {
    if (!is_product(handle, alpha, beta, type, compute)) return status_to_return;
    return multiply(n, n, k, 1, scalar(alpha, type), {a, type, op, lda, 0}, {b, type, op == 0 ? 1 : 0, ldb, 0}, scalar(beta, type),
                    {c, type, 0, ldc, 0}, c, type, ldc, 0, ZeroAlpha::skips, {}, fill);
}

int set(Descriptor* descriptor, int attribute, const void* value, std::size_t size) {
    const auto* const bytes = static_cast<const unsigned char*>(value);
    (*descriptor)[attribute].assign(bytes, bytes + size);
    return 0;
}
int get(const Descriptor* descriptor, int attribute, void* value, std::size_t size, std::size_t* written) {
    const auto found = descriptor->find(attribute);
    // cublasLt insists on the right size.
    if (found == descriptor->end() || found->second.size() != size) return 7;
    std::memcpy(value, found->second.data(), size);
    if (written) *written = size;
    return 0;
}
template <class Value>
void add(Descriptor* descriptor, int attribute, Value value) {
    set(descriptor, attribute, &value, sizeof value);
}
template <class Value>
Value value_of(const Descriptor* descriptor, int attribute) {
    Value value{};
    get(descriptor, attribute, &value, sizeof value, nullptr);
    return value;
}

}  // namespace

long stand_in_calls() {
    return calls;
}
const std::vector<std::uint64_t>& stand_in_arguments() {
    return arguments_of_last;
}
void stand_in_returns(int status) {
    status_to_return = status;
}
void stand_in_throws(bool does) {
    throws = does;
}

TMM_EXPORT int cublasCreate_v2(Handle** handle) {
    *handle = new Handle;
    return 0;
}
TMM_EXPORT int cublasDestroy_v2(Handle* handle) {
    delete handle;
    return 0;
}

#define TMM_STATE(Get, Set, Type, member)       \
    TMM_EXPORT int Set(Handle* h, Type value) { \
        h->member = value;                      \
        return 0;                               \
    }                                           \
    TMM_EXPORT int Get(Handle* h, Type* into) { \
        *into = h->member;                      \
        return 0;                               \
    }
TMM_STATE(cublasGetStream_v2, cublasSetStream_v2, void*, stream)
TMM_STATE(cublasGetPointerMode_v2, cublasSetPointerMode_v2, int, pointer_mode)
TMM_STATE(cublasGetMathMode, cublasSetMathMode, int, math_mode)
TMM_STATE(cublasGetSmCountTarget, cublasSetSmCountTarget, int, sm_count_target)

#define TMM_FUNCTIONS_OF(Letter, Real, kType, kCompute, end, Int)                                                                          \
    TMM_EXPORT int cublas##Letter##gemm_v2##end(Handle* h, int ta, int tb, Int m, Int n, Int k, const Real* alpha, const Real* a, Int lda, \
                                                const Real* b, Int ldb, const Real* beta, Real* c, Int ldc) {                              \
        note(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                                                     \
        return gemm<Int>(h, ta, tb, m, n, k, alpha, a, kType, lda, 0, b, kType, ldb, 0, beta, c, kType, ldc, 0, 1, kCompute);              \
    }                                                                                                                                      \
    TMM_EXPORT int cublas##Letter##gemmStridedBatched##end(Handle* h, int ta, int tb, Int m, Int n, Int k, const Real* alpha,              \
                                                           const Real* a, Int lda, long long sa, const Real* b, Int ldb, long long sb,     \
                                                           const Real* beta, Real* c, Int ldc, long long sc, Int batch) {                  \
        note(h, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, batch);                                                  \
        return gemm<Int>(h, ta, tb, m, n, k, alpha, a, kType, lda, sa, b, kType, ldb, sb, beta, c, kType, ldc, sc, batch, kCompute);       \
    }                                                                                                                                      \
    TMM_EXPORT int cublas##Letter##gemmBatched##end(Handle* h, int ta, int tb, Int m, Int n, Int k, const Real* alpha,                     \
                                                    const Real* const* a, Int lda, const Real* const* b, Int ldb, const Real* beta,        \
                                                    Real* const* c, Int ldc, Int batch) {                                                  \
        note(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, batch);                                                              \
        return gemm_of_arrays<Int>(h, ta, tb, m, n, k, alpha, a, kType, lda, b, kType, ldb, beta, c, kType, ldc, batch, kCompute);         \
    }                                                                                                                                      \
    TMM_EXPORT int cublas##Letter##syrk_v2##end(Handle* h, int fill, int op, Int n, Int k, const Real* alpha, const Real* a, Int lda,      \
                                                const Real* beta, Real* c, Int ldc) {                                                      \
        note(h, fill, op, n, k, alpha, a, lda, beta, c, ldc);                                                                              \
        return triangle<Int>(h, fill, op, n, k, alpha, a, lda, a, lda, beta, c, ldc, kType, kCompute);                                     \
    }                                                                                                                                      \
    TMM_EXPORT int cublas##Letter##syrkx##end(Handle* h, int fill, int op, Int n, Int k, const Real* alpha, const Real* a, Int lda,        \
                                              const Real* b, Int ldb, const Real* beta, Real* c, Int ldc) {                                \
        note(h, fill, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                                                      \
        return triangle<Int>(h, fill, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc, kType, kCompute);                                     \
    }
TMM_FUNCTIONS_OF(S, float, kF32, 68, , int)
TMM_FUNCTIONS_OF(S, float, kF32, 68, _64, std::int64_t)
TMM_FUNCTIONS_OF(D, double, kF64, 70, , int)
TMM_FUNCTIONS_OF(D, double, kF64, 70, _64, std::int64_t)

#define TMM_FUNCTIONS(end, Int)                                                                                                          \
    TMM_EXPORT int cublasSgemmEx##end(Handle* h, int ta, int tb, Int m, Int n, Int k, const float* alpha, const void* a, int type_a,     \
                                      Int lda, const void* b, int type_b, Int ldb, const float* beta, void* c, int type_c, Int ldc) {    \
        note(h, ta, tb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc);                                           \
        return gemm<Int>(h, ta, tb, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0, beta, c, type_c, ldc, 0, 1, 68);               \
    }                                                                                                                                    \
    TMM_EXPORT int cublasGemmEx##end(Handle* h, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a, int type_a,       \
                                     Int lda, const void* b, int type_b, Int ldb, const void* beta, void* c, int type_c, Int ldc,        \
                                     int compute, int algorithm) {                                                                       \
        note(h, ta, tb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, compute, algorithm);                       \
        return gemm<Int>(h, ta, tb, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0, beta, c, type_c, ldc, 0, 1, compute);          \
    }                                                                                                                                    \
    TMM_EXPORT int cublasGemmStridedBatchedEx##end(Handle* h, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a,     \
                                                   int type_a, Int lda, long long sa, const void* b, int type_b, Int ldb, long long sb,  \
                                                   const void* beta, void* c, int type_c, Int ldc, long long sc, Int batch, int compute, \
                                                   int algorithm) {                                                                      \
        note(h, ta, tb, m, n, k, alpha, a, type_a, lda, sa, b, type_b, ldb, sb, beta, c, type_c, ldc, sc, batch, compute, algorithm);    \
        /* As cuBLAS's own functions do, this one calls another that programs call, too. */                                              \
        if (algorithm == 5 && batch == 1)                                                                                                \
            return cublasGemmEx##end(h, ta, tb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, compute, -1);      \
        return gemm<Int>(h, ta, tb, m, n, k, alpha, a, type_a, lda, sa, b, type_b, ldb, sb, beta, c, type_c, ldc, sc, batch, compute);   \
    }                                                                                                                                    \
    TMM_EXPORT int cublasGemmBatchedEx##end(Handle* h, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* const* a,     \
                                            int type_a, Int lda, const void* const* b, int type_b, Int ldb, const void* beta,            \
                                            void* const* c, int type_c, Int ldc, Int batch, int compute, int algorithm) {                \
        note(h, ta, tb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, batch, compute, algorithm);                \
        return gemm_of_arrays<Int>(h, ta, tb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, batch, compute);     \
    }
TMM_FUNCTIONS(, int)
TMM_FUNCTIONS(_64, std::int64_t)

TMM_EXPORT int cublasLtMatrixLayoutCreate(Descriptor** layout, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t ld) {
    *layout = new Descriptor;
    add<std::int32_t>(*layout, 0, type);
    add<std::int32_t>(*layout, 1, 0);
    add<std::uint64_t>(*layout, 2, rows);
    add<std::uint64_t>(*layout, 3, columns);
    add<std::int64_t>(*layout, 4, ld);
    add<std::int32_t>(*layout, 5, 1);
    add<std::int64_t>(*layout, 6, 0);
    add<std::int64_t>(*layout, 7, 0);
    return 0;
}
TMM_EXPORT int cublasLtMatmulDescCreate(Descriptor** product, int compute, int scale_type) {
    *product = new Descriptor;
    add<std::int32_t>(*product, 0, compute);
    add<std::int32_t>(*product, 1, scale_type);
    for (int attribute = 2; attribute <= 5; ++attribute) add<std::int32_t>(*product, attribute, 0);
    add<std::int32_t>(*product, 6, 2);
    add<std::uint32_t>(*product, 7, 1);
    add<const void*>(*product, 8, nullptr);
    add<std::int64_t>(*product, 10, 0);
    add<std::int32_t>(*product, 26, -1);
    add<std::int32_t>(*product, 15, 0);
    for (int attribute = 17; attribute <= 21; ++attribute) add<const void*>(*product, attribute, nullptr);
    return 0;
}
TMM_EXPORT int cublasLtMatrixLayoutDestroy(Descriptor* descriptor) {
    delete descriptor;
    return 0;
}
TMM_EXPORT int cublasLtMatmulDescDestroy(Descriptor* descriptor) {
    delete descriptor;
    return 0;
}
TMM_EXPORT int cublasLtMatrixLayoutSetAttribute(Descriptor* d, int attribute, const void* value, std::size_t size) {
    return set(d, attribute, value, size);
}
TMM_EXPORT int cublasLtMatmulDescSetAttribute(Descriptor* d, int attribute, const void* value, std::size_t size) {
    return set(d, attribute, value, size);
}
TMM_EXPORT int cublasLtMatrixLayoutGetAttribute(Descriptor* d, int attribute, void* value, std::size_t size, std::size_t* written) {
    return get(d, attribute, value, size, written);
}
TMM_EXPORT int cublasLtMatmulDescGetAttribute(Descriptor* d, int attribute, void* value, std::size_t size, std::size_t* written) {
    return get(d, attribute, value, size, written);
}

TMM_EXPORT int cublasLtMatmul(void* handle, Descriptor* product, const void* alpha, const void* a, Descriptor* layout_a, const void* b,
                              Descriptor* layout_b, const void* beta, const void* c, Descriptor* layout_c, void* d, Descriptor* layout_d,
                              const void* algorithm, void* workspace, std::size_t workspace_size, void* stream) {
    note(handle, product, alpha, a, layout_a, b, layout_b, beta, c, layout_c, d, layout_d, algorithm, workspace, workspace_size, stream);
    const int type = value_of<std::int32_t>(layout_a, 0);
    const bool is_plain = alpha && beta && value_of<std::int32_t>(product, 2) == 0 &&
                          value_of<std::int32_t>(product, 1) == (type == kF64  ? kF64
                                                                 : type == kS8 ? kS32
                                                                               : kF32) &&
                          value_of<std::int32_t>(layout_d, 1) == 0 && value_of<std::int32_t>(layout_a, 1) == 0;
    if (!is_plain) return status_to_return;
    const auto operand = [&](const void* data, Descriptor* layout, int op) {
        return Operand{data, value_of<std::int32_t>(layout, 0), op, value_of<std::int64_t>(layout, 4), value_of<std::int64_t>(layout, 6)};
    };
    const auto kind = value_of<std::uint32_t>(product, 7);
    Epilogue epilogue{.relu = (kind & 2) != 0, .gelu = (kind & 32) != 0};
    if ((kind & 4) != 0) epilogue.bias = value_of<const void*>(product, 8);
    epilogue.type = value_of<std::int32_t>(product, 26);
    if (epilogue.type == -1) epilogue.type = value_of<std::int32_t>(layout_d, 0);
    const int op_a = value_of<std::int32_t>(product, 3);
    return multiply(value_of<std::int64_t>(layout_d, 2), value_of<std::int64_t>(layout_d, 3),
                    value_of<std::int64_t>(layout_a, op_a == 0 ? 3 : 2), value_of<std::int32_t>(layout_d, 5), scalar(alpha, type),
                    operand(a, layout_a, op_a), operand(b, layout_b, value_of<std::int32_t>(product, 4)), scalar(beta, type),
                    operand(c, layout_c ? layout_c : layout_d, 0), d, value_of<std::int32_t>(layout_d, 0),
                    value_of<std::int64_t>(layout_d, 4), value_of<std::int64_t>(layout_d, 6), ZeroAlpha::multiplies, epilogue);
}
