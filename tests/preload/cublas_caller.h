// What a program has that calls cuBLAS and knows nothing of tmm: the functions, products to call them with, and a comparison of what they
// compute with what the loop of the stand-in computes for the same call, bit for bit. All values are integers of a few bits. Matrices are
// the process's own memory, as the emulated device's are. tests/dropin/test_cublas.cpp runs its cases with libtmm_cublas.so loaded first.
#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "cublas_stand_in.h"
#include "generator/problem/number_codec.h"

extern "C" {
int cublasCreate_v2(void** handle);
int cublasSetPointerMode_v2(void* handle, int mode);
int cublasSetMathMode(void* handle, int mode);
int cublasSetSmCountTarget(void* handle, int count);
int cublasSetStream_v2(void* handle, void* stream);
#define DECLARE(end, Int)                                                                                                                  \
    int cublasSgemm_v2##end(void*, int, int, Int, Int, Int, const float*, const float*, Int, const float*, Int, const float*, float*,      \
                            Int);                                                                                                          \
    int cublasSgemmStridedBatched##end(void*, int, int, Int, Int, Int, const float*, const float*, Int, long long, const float*, Int,      \
                                       long long, const float*, float*, Int, long long, Int);                                              \
    int cublasDgemm_v2##end(void*, int, int, Int, Int, Int, const double*, const double*, Int, const double*, Int, const double*, double*, \
                            Int);                                                                                                          \
    int cublasDgemmStridedBatched##end(void*, int, int, Int, Int, Int, const double*, const double*, Int, long long, const double*, Int,   \
                                       long long, const double*, double*, Int, long long, Int);                                            \
    int cublasSgemmEx##end(void*, int, int, Int, Int, Int, const float*, const void*, int, Int, const void*, int, Int, const float*,       \
                           void*, int, Int);                                                                                               \
    int cublasGemmEx##end(void*, int, int, Int, Int, Int, const void*, const void*, int, Int, const void*, int, Int, const void*, void*,   \
                          int, Int, int, int);                                                                                             \
    int cublasGemmStridedBatchedEx##end(void*, int, int, Int, Int, Int, const void*, const void*, int, Int, long long, const void*, int,   \
                                        Int, long long, const void*, void*, int, Int, long long, Int, int, int);                           \
    int cublasSgemmBatched##end(void*, int, int, Int, Int, Int, const float*, const float* const*, Int, const float* const*, Int,          \
                                const float*, float* const*, Int, Int);                                                                    \
    int cublasDgemmBatched##end(void*, int, int, Int, Int, Int, const double*, const double* const*, Int, const double* const*, Int,       \
                                const double*, double* const*, Int, Int);                                                                  \
    int cublasGemmBatchedEx##end(void*, int, int, Int, Int, Int, const void*, const void* const*, int, Int, const void* const*, int, Int,  \
                                 const void*, void* const*, int, Int, Int, int, int);                                                      \
    int cublasSsyrk_v2##end(void*, int, int, Int, Int, const float*, const float*, Int, const float*, float*, Int);                        \
    int cublasDsyrk_v2##end(void*, int, int, Int, Int, const double*, const double*, Int, const double*, double*, Int);                    \
    int cublasSsyrkx##end(void*, int, int, Int, Int, const float*, const float*, Int, const float*, Int, const float*, float*, Int);       \
    int cublasDsyrkx##end(void*, int, int, Int, Int, const double*, const double*, Int, const double*, Int, const double*, double*, Int);
DECLARE(, int)
DECLARE(_64, std::int64_t)
#undef DECLARE
int cublasLtMatrixLayoutCreate(void** layout, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t ld);
int cublasLtMatmulDescCreate(void** product, int compute, int scale_type);
int cublasLtMatrixLayoutDestroy(void* layout);
int cublasLtMatmulDescDestroy(void* product);
int cublasLtMatrixLayoutSetAttribute(void* layout, int attribute, const void* value, std::size_t size);
int cublasLtMatmulDescSetAttribute(void* product, int attribute, const void* value, std::size_t size);
int cublasLtMatmul(void*, void* product, const void* alpha, const void* a, void* layout_a, const void* b, void* layout_b, const void* beta,
                   const void* c, void* layout_c, void* d, void* layout_d, const void* algorithm, void* workspace, std::size_t size,
                   void* stream);
}

namespace cublas_caller {

enum { kF32 = 0, kF64 = 1, kF16 = 2, kS8 = 3, kS32 = 10, kBf16 = 14 };
enum {
    kCompute16F = 64,
    kCompute32F = 68,
    kComputePedantic = 69,
    kCompute64F = 70,
    kCompute64FPedantic = 71,
    kCompute32I = 72,
    kComputeFast16F = 74,
    kComputeTf32 = 77
};

// The stand-in's own function, whatever was loaded first.
template <class Function>
Function* behind(const char* name, Function*) {
    static void* const library = dlopen(TMM_TEST_STAND_IN, RTLD_LAZY | RTLD_NOLOAD);
    REQUIRE(library);
    auto* const function = reinterpret_cast<Function*>(dlsym(library, name));
    REQUIRE((function != nullptr));
    return function;
}
#define BEHIND(name) behind(#name, &name)

inline std::size_t size_of(int type) {
    if (type == kS8) return 1;
    return type == kF64 ? 8 : type == kF32 || type == kS32 ? 4 : 2;
}

// Bytes that hold elements of a type.
using Bytes = std::vector<unsigned char>;

inline void store(Bytes& bytes, int type, std::size_t at, float value) {
    const double wide = value;
    // Where a float would be NaN, whole numbers are some that no product of the tests is.
    const std::int32_t whole = std::isnan(value) ? 0x5a5a5a5a : static_cast<std::int32_t>(value);
    if (type == kS8) bytes[at] = static_cast<unsigned char>(whole);
    if (type == kS32) std::memcpy(bytes.data() + at * 4, &whole, 4);
    if (type == kF64) std::memcpy(bytes.data() + at * 8, &wide, 8);
    if (type == kF32) std::memcpy(bytes.data() + at * 4, &value, 4);
    const auto half = static_cast<std::uint16_t>(tmm::encoded(tmm::ElementType::f16, value));
    const auto upper = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
    if (type == kF16) std::memcpy(bytes.data() + at * 2, &half, 2);
    if (type == kBf16) std::memcpy(bytes.data() + at * 2, &upper, 2);
}

inline Bytes integers(int type, std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    Bytes bytes(count * size_of(type));
    // Products of these doubles are exact, but not as floats.
    const float unit = type == kF64 ? 2097153 : 1;
    for (std::size_t at = 0; at < count; ++at) store(bytes, type, at, unit * static_cast<float>(static_cast<int>(random() % 5) - 2));
    return bytes;
}
inline Bytes filled(int type, std::size_t count, float value) {
    Bytes bytes(count * size_of(type));
    for (std::size_t at = 0; at < count; ++at) store(bytes, type, at, value);
    return bytes;
}

struct Types {
    int a;
    int c;
};

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

inline void* handle() {
    static void* const made = [] {
        void* created = nullptr;
        REQUIRE(cublasCreate_v2(&created) == 0);
        return created;
    }();
    return made;
}

// A product, and the matrices that it reads and writes.
struct Case {
    Types types{kF32, kF32};
    int op_a = 0;
    int op_b = 0;
    int m = 5;
    int n = 3;
    int k = 4;
    int pad = 0;
    // Elements that the matrices stand behind an aligned address.
    std::size_t offset = 0;
    int batch = 1;
    long long stride_a = 0;
    long long stride_b = 0;
    long long stride_c = 0;
    float alpha = 1;
    float beta = 0;
    int compute = kCompute32F;
    int algorithm = -1;
    // A meets itself as B.
    bool is_one = false;
    // The triangle that syrk and syrkx compute: 0 for the lower, 1 for the upper one. op_b is the opposite of op_a, and m is n.
    int uplo = 0;
    // cublasLt's epilogue has its number, 1 for none; the bias has a type, -1 for that of D.
    unsigned epilogue = 1;
    int type_bias = -1;
    // alpha and beta of doubles, and of whole numbers.
    double wide_alpha = 0;
    double wide_beta = 0;
    std::int32_t whole_alpha = 0;
    std::int32_t whole_beta = 0;
    Bytes a = {};
    Bytes b = {};
    Bytes c = {};
    Bytes bias = {};

    int lda() const { return (op_a == 0 ? m : k) + pad; }
    int ldb() const { return (op_b == 0 ? k : n) + pad; }
    int ldc() const { return m + pad; }
    const void* at_a() const { return a.data() + offset * size_of(types.a); }
    const void* at_b() const { return is_one ? at_a() : b.data() + offset * size_of(types.a); }
    const void* at_alpha() const { return scalar_of_type(wide_alpha, whole_alpha, alpha); }
    const void* at_beta() const { return scalar_of_type(wide_beta, whole_beta, beta); }
    const void* scalar_of_type(const double& of_doubles, const std::int32_t& of_whole, const float& of_floats) const {
        if (types.a == kS8) return &of_whole;
        return types.a == kF64 ? static_cast<const void*>(&of_doubles) : &of_floats;
    }
    void* at_c(Bytes& of) const { return of.data() + offset * size_of(types.c); }

    // Where beta is 0, C is full of NaN.
    Case& fill() {
        constexpr std::size_t kEnough = 2000;
        wide_alpha = alpha;
        wide_beta = beta;
        whole_alpha = static_cast<std::int32_t>(alpha);
        whole_beta = static_cast<std::int32_t>(beta);
        if (types.a == kS8 && compute == kCompute32F) compute = kCompute32I;
        if (types.a == kF64 && compute == kCompute32F) compute = kCompute64F;
        a = integers(types.a, kEnough, 1);
        b = integers(types.a, kEnough, 2);
        bias = integers(type_bias == -1 ? types.c : type_bias, kEnough, 4);
        c = beta == 0 ? filled(types.c, kEnough, kNan) : integers(types.c, kEnough, 3);
        return *this;
    }
};

// Each of these makes the same call of two functions: the one that the program finds, and the stand-in's.
template <class Real, class Int, class Function>
int gemm_of(Function* f, const Case& x, Bytes& c) {
    return f(handle(), x.op_a, x.op_b, Int{x.m}, Int{x.n}, Int{x.k}, static_cast<const Real*>(x.at_alpha()),
             static_cast<const Real*>(x.at_a()), Int{x.lda()}, static_cast<const Real*>(x.at_b()), Int{x.ldb()},
             static_cast<const Real*>(x.at_beta()), static_cast<Real*>(x.at_c(c)), Int{x.ldc()});
}
template <class Real, class Int, class Function>
int gemm_strided_of(Function* f, const Case& x, Bytes& c) {
    return f(handle(), x.op_a, x.op_b, Int{x.m}, Int{x.n}, Int{x.k}, static_cast<const Real*>(x.at_alpha()),
             static_cast<const Real*>(x.at_a()), Int{x.lda()}, x.stride_a, static_cast<const Real*>(x.at_b()), Int{x.ldb()}, x.stride_b,
             static_cast<const Real*>(x.at_beta()), static_cast<Real*>(x.at_c(c)), Int{x.ldc()}, x.stride_c, Int{x.batch});
}
template <class Int, class Function>
int sgemm(Function* f, const Case& x, Bytes& c) {
    return gemm_of<float, Int>(f, x, c);
}
template <class Int, class Function>
int dgemm(Function* f, const Case& x, Bytes& c) {
    return gemm_of<double, Int>(f, x, c);
}
template <class Int, class Function>
int sgemm_strided(Function* f, const Case& x, Bytes& c) {
    return gemm_strided_of<float, Int>(f, x, c);
}
template <class Int, class Function>
int dgemm_strided(Function* f, const Case& x, Bytes& c) {
    return gemm_strided_of<double, Int>(f, x, c);
}
template <class Int, class Function>
int sgemm_ex(Function* f, const Case& x, Bytes& c) {
    return f(handle(), x.op_a, x.op_b, Int{x.m}, Int{x.n}, Int{x.k}, &x.alpha, x.at_a(), x.types.a, Int{x.lda()}, x.at_b(), x.types.a,
             Int{x.ldb()}, &x.beta, x.at_c(c), x.types.c, Int{x.ldc()});
}
template <class Int, class Function>
int gemm_ex(Function* f, const Case& x, Bytes& c) {
    return f(handle(), x.op_a, x.op_b, Int{x.m}, Int{x.n}, Int{x.k}, x.at_alpha(), x.at_a(), x.types.a, Int{x.lda()}, x.at_b(), x.types.a,
             Int{x.ldb()}, x.at_beta(), x.at_c(c), x.types.c, Int{x.ldc()}, x.compute, x.algorithm);
}
template <class Int, class Function>
int gemm_strided_ex(Function* f, const Case& x, Bytes& c) {
    return f(handle(), x.op_a, x.op_b, Int{x.m}, Int{x.n}, Int{x.k}, x.at_alpha(), x.at_a(), x.types.a, Int{x.lda()}, x.stride_a, x.at_b(),
             x.types.a, Int{x.ldb()}, x.stride_b, x.at_beta(), x.at_c(c), x.types.c, Int{x.ldc()}, x.stride_c, Int{x.batch}, x.compute,
             x.algorithm);
}

// The members of a batch, the last of A first, as arrays of their addresses.
template <class Element>
struct Arrays {
    Arrays(const Case& x, Bytes& of_c) {
        for (int i = 0; i < x.batch; ++i) {
            a.push_back(address<const Element>(x.at_a(), (x.batch - 1 - i) * x.stride_a, x.types.a));
            b.push_back(address<const Element>(x.at_b(), i * x.stride_b, x.types.a));
            c.push_back(address<Element>(x.at_c(of_c), i * x.stride_c, x.types.c));
        }
    }
    template <class E, class Void>
    static E* address(Void* matrix, long long elements, int type) {
        using Byte = std::conditional_t<std::is_const_v<Void>, const unsigned char, unsigned char>;
        return static_cast<E*>(static_cast<Void*>(static_cast<Byte*>(matrix) + elements * static_cast<long long>(size_of(type))));
    }
    std::vector<const Element*> a;
    std::vector<const Element*> b;
    std::vector<Element*> c;
};
template <class Real, class Int, class Function>
int gemm_batched_of(Function* f, const Case& x, Bytes& c) {
    const Arrays<Real> arrays(x, c);
    return f(handle(), x.op_a, x.op_b, Int{x.m}, Int{x.n}, Int{x.k}, static_cast<const Real*>(x.at_alpha()), arrays.a.data(), Int{x.lda()},
             arrays.b.data(), Int{x.ldb()}, static_cast<const Real*>(x.at_beta()), arrays.c.data(), Int{x.ldc()}, Int{x.batch});
}
template <class Int, class Function>
int sgemm_batched(Function* f, const Case& x, Bytes& c) {
    return gemm_batched_of<float, Int>(f, x, c);
}
template <class Int, class Function>
int dgemm_batched(Function* f, const Case& x, Bytes& c) {
    return gemm_batched_of<double, Int>(f, x, c);
}
template <class Int, class Function>
int gemm_batched_ex(Function* f, const Case& x, Bytes& c) {
    const Arrays<void> arrays(x, c);
    return f(handle(), x.op_a, x.op_b, Int{x.m}, Int{x.n}, Int{x.k}, x.at_alpha(), arrays.a.data(), x.types.a, Int{x.lda()},
             arrays.b.data(), x.types.a, Int{x.ldb()}, x.at_beta(), arrays.c.data(), x.types.c, Int{x.ldc()}, Int{x.batch}, x.compute,
             x.algorithm);
}
template <class Real, class Int, class Function>
int syrk_of(Function* f, const Case& x, Bytes& c) {
    return f(handle(), x.uplo, x.op_a, Int{x.n}, Int{x.k}, static_cast<const Real*>(x.at_alpha()), static_cast<const Real*>(x.at_a()),
             Int{x.lda()}, static_cast<const Real*>(x.at_beta()), static_cast<Real*>(x.at_c(c)), Int{x.ldc()});
}
template <class Real, class Int, class Function>
int syrkx_of(Function* f, const Case& x, Bytes& c) {
    return f(handle(), x.uplo, x.op_a, Int{x.n}, Int{x.k}, static_cast<const Real*>(x.at_alpha()), static_cast<const Real*>(x.at_a()),
             Int{x.lda()}, static_cast<const Real*>(x.at_b()), Int{x.ldb()}, static_cast<const Real*>(x.at_beta()),
             static_cast<Real*>(x.at_c(c)), Int{x.ldc()});
}
template <class Int, class Function>
int ssyrk(Function* f, const Case& x, Bytes& c) {
    return syrk_of<float, Int>(f, x, c);
}
template <class Int, class Function>
int dsyrk(Function* f, const Case& x, Bytes& c) {
    return syrk_of<double, Int>(f, x, c);
}
template <class Int, class Function>
int ssyrkx(Function* f, const Case& x, Bytes& c) {
    return syrkx_of<float, Int>(f, x, c);
}
template <class Int, class Function>
int dsyrkx(Function* f, const Case& x, Bytes& c) {
    return syrkx_of<double, Int>(f, x, c);
}

// A product of cublasLt: C is D.
struct LtCase {
    explicit LtCase(const Case& x) {
        const auto layout = [&](void*& into, int type, bool turned, int rows, int columns, int ld, long long stride) {
            REQUIRE(cublasLtMatrixLayoutCreate(&into, type, static_cast<std::uint64_t>(turned ? columns : rows),
                                               static_cast<std::uint64_t>(turned ? rows : columns), ld) == 0);
            set_layout<std::int32_t>(into, 5, x.batch);
            set_layout<std::int64_t>(into, 6, stride);
        };
        layout(layout_a, x.types.a, x.op_a != 0, x.m, x.k, x.lda(), x.stride_a);
        layout(layout_b, x.types.a, x.op_b != 0, x.k, x.n, x.ldb(), x.stride_b);
        layout(layout_c, x.types.c, false, x.m, x.n, x.ldc(), x.stride_c);
        layout(layout_d, x.types.c, false, x.m, x.n, x.ldc(), x.stride_c);
        REQUIRE(cublasLtMatmulDescCreate(&product, x.compute, x.types.a == kF64 ? kF64 : x.types.a == kS8 ? kS32 : kF32) == 0);
        set_product<std::int32_t>(3, x.op_a);
        set_product<std::int32_t>(4, x.op_b);
        set_product<std::uint32_t>(7, x.epilogue);
        set_product<std::int32_t>(26, x.type_bias);
        if ((x.epilogue & 4) != 0) set_product<const void*>(8, x.bias.data());
    }
    LtCase(const LtCase&) = delete;
    LtCase& operator=(const LtCase&) = delete;
    ~LtCase() {
        for (void* layout : {layout_a, layout_b, layout_c, layout_d}) cublasLtMatrixLayoutDestroy(layout);
        cublasLtMatmulDescDestroy(product);
    }
    template <class Value>
    static void set_layout(void* layout, int attribute, Value value) {
        cublasLtMatrixLayoutSetAttribute(layout, attribute, &value, sizeof value);
    }
    template <class Value>
    void set_product(int attribute, Value value) {
        cublasLtMatmulDescSetAttribute(product, attribute, &value, sizeof value);
    }

    void* layout_a = nullptr;
    void* layout_b = nullptr;
    void* layout_c = nullptr;
    void* layout_d = nullptr;
    void* product = nullptr;
};

template <class Function>
int lt_matmul(Function* f, const Case& x, const LtCase& lt, Bytes& c) {
    return f(nullptr, lt.product, x.at_alpha(), x.at_a(), lt.layout_a, x.at_b(), lt.layout_b, x.at_beta(), x.at_c(c), lt.layout_c,
             x.at_c(c), lt.layout_d, nullptr, nullptr, 0, nullptr);
}

// Calls both; `served` says whether the stand-in must be left out the first time.
template <class Call, class Function>
void compare(const Call& call, Function* found, Function* stand_in, const Case& x, bool served) {
    CAPTURE(x.types.a);
    CAPTURE(x.types.c);
    CAPTURE(x.op_a);
    CAPTURE(x.op_b);
    CAPTURE(x.m);
    CAPTURE(x.n);
    CAPTURE(x.k);
    CAPTURE(x.pad);
    CAPTURE(x.offset);
    CAPTURE(x.batch);
    CAPTURE(x.uplo);
    CAPTURE(x.alpha);
    CAPTURE(x.beta);
    Bytes computed = x.c;
    Bytes expected = x.c;
    const long before = stand_in_calls();
    CHECK(call(found, x, computed) == 0);
    CHECK(stand_in_calls() - before == (served ? 0 : 1));
    CHECK(call(stand_in, x, expected) == 0);
    CHECK((computed == expected));
}
#define COMPARE(call, name, x) compare([](auto* f, const Case& y, Bytes& c) { return call(f, y, c); }, &name, BEHIND(name), x, true)

inline void compare_lt(const Case& x, bool served) {
    const LtCase lt(x);
    compare([&](auto* f, const Case& y, Bytes& c) { return lt_matmul(f, y, lt, c); }, &cublasLtMatmul, BEHIND(cublasLtMatmul), x, served);
}

// Space for any call, full of zeros.
struct Matrices {
    alignas(16) float a[64] = {};
    alignas(16) float b[64] = {};
    alignas(16) float c[64] = {};
    float one = 1;
    float zero = 0;
};

}  // namespace cublas_caller
