// A program that calls cuBLAS and knows nothing of tmm. tests/test_cublas.cpp runs its cases with libtmm_cublas.so loaded first, on the
// emulated device, so that matrices are the process's own memory. Whatever it computes is compared with what the loop of the stand-in
// computes for the same call, bit for bit: all values are small integers.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "cublas_stand_in.h"

extern "C" {
int cublasCreate_v2(void** handle);
int cublasSetPointerMode_v2(void* handle, int mode);
int cublasSetMathMode(void* handle, int mode);
int cublasSetSmCountTarget(void* handle, int count);
int cublasSetStream_v2(void* handle, void* stream);
#define DECLARE(end, Int)                                                                                                                \
    int cublasSgemm_v2##end(void*, int, int, Int, Int, Int, const float*, const float*, Int, const float*, Int, const float*, float*,    \
                            Int);                                                                                                        \
    int cublasSgemmStridedBatched##end(void*, int, int, Int, Int, Int, const float*, const float*, Int, long long, const float*, Int,    \
                                       long long, const float*, float*, Int, long long, Int);                                            \
    int cublasSgemmEx##end(void*, int, int, Int, Int, Int, const float*, const void*, int, Int, const void*, int, Int, const float*,     \
                           void*, int, Int);                                                                                             \
    int cublasGemmEx##end(void*, int, int, Int, Int, Int, const void*, const void*, int, Int, const void*, int, Int, const void*, void*, \
                          int, Int, int, int);                                                                                           \
    int cublasGemmStridedBatchedEx##end(void*, int, int, Int, Int, Int, const void*, const void*, int, Int, long long, const void*, int, \
                                        Int, long long, const void*, void*, int, Int, long long, Int, int, int);
DECLARE(, int)
DECLARE(_64, std::int64_t)
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

namespace {

enum { kF32 = 0, kF16 = 2, kBf16 = 14 };
enum { kCompute16F = 64, kCompute32F = 68, kComputePedantic = 69, kComputeFast16F = 74, kComputeTf32 = 77 };

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

std::size_t size_of(int type) {
    return type == kF32 ? 4 : 2;
}

// Bytes that hold elements of a type.
using Bytes = std::vector<unsigned char>;

void store(Bytes& bytes, int type, std::size_t at, float value) {
    if (type == kF32) std::memcpy(bytes.data() + at * 4, &value, 4);
    const auto half = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
    const auto upper = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
    if (type == kF16) std::memcpy(bytes.data() + at * 2, &half, 2);
    if (type == kBf16) std::memcpy(bytes.data() + at * 2, &upper, 2);
}

Bytes integers(int type, std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    Bytes bytes(count * size_of(type));
    for (std::size_t at = 0; at < count; ++at) store(bytes, type, at, static_cast<float>(static_cast<int>(random() % 5) - 2));
    return bytes;
}
Bytes filled(int type, std::size_t count, float value) {
    Bytes bytes(count * size_of(type));
    for (std::size_t at = 0; at < count; ++at) store(bytes, type, at, value);
    return bytes;
}

struct Types {
    int a;
    int c;
};
constexpr Types kTypes[] = {{kF32, kF32}, {kF16, kF16}, {kBf16, kBf16}, {kF16, kF32}, {kBf16, kF32}};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

void* handle() {
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
    // cublasLt's epilogue has its number, 1 for none; the bias has a type, -1 for that of D.
    unsigned epilogue = 1;
    int type_bias = -1;
    Bytes a = {};
    Bytes b = {};
    Bytes c = {};
    Bytes bias = {};

    int lda() const { return (op_a == 0 ? m : k) + pad; }
    int ldb() const { return (op_b == 0 ? k : n) + pad; }
    int ldc() const { return m + pad; }
    const void* at_a() const { return a.data() + offset * size_of(types.a); }
    const void* at_b() const { return b.data() + offset * size_of(types.a); }
    void* at_c(Bytes& of) const { return of.data() + offset * size_of(types.c); }

    // Where beta is 0, C is full of NaN.
    Case& fill() {
        constexpr std::size_t kEnough = 2000;
        a = integers(types.a, kEnough, 1);
        b = integers(types.a, kEnough, 2);
        bias = integers(type_bias == -1 ? types.c : type_bias, kEnough, 4);
        c = beta == 0 ? filled(types.c, kEnough, kNan) : integers(types.c, kEnough, 3);
        return *this;
    }
};

// Each of these makes the same call of two functions: the one that the program finds, and the stand-in's.
template <class Int, class Function>
int sgemm(Function* f, const Case& x, Bytes& c) {
    return f(handle(), x.op_a, x.op_b, Int{x.m}, Int{x.n}, Int{x.k}, &x.alpha, static_cast<const float*>(x.at_a()), Int{x.lda()},
             static_cast<const float*>(x.at_b()), Int{x.ldb()}, &x.beta, static_cast<float*>(x.at_c(c)), Int{x.ldc()});
}
template <class Int, class Function>
int sgemm_strided(Function* f, const Case& x, Bytes& c) {
    return f(handle(), x.op_a, x.op_b, Int{x.m}, Int{x.n}, Int{x.k}, &x.alpha, static_cast<const float*>(x.at_a()), Int{x.lda()},
             x.stride_a, static_cast<const float*>(x.at_b()), Int{x.ldb()}, x.stride_b, &x.beta, static_cast<float*>(x.at_c(c)),
             Int{x.ldc()}, x.stride_c, Int{x.batch});
}
template <class Int, class Function>
int sgemm_ex(Function* f, const Case& x, Bytes& c) {
    return f(handle(), x.op_a, x.op_b, Int{x.m}, Int{x.n}, Int{x.k}, &x.alpha, x.at_a(), x.types.a, Int{x.lda()}, x.at_b(), x.types.a,
             Int{x.ldb()}, &x.beta, x.at_c(c), x.types.c, Int{x.ldc()});
}
template <class Int, class Function>
int gemm_ex(Function* f, const Case& x, Bytes& c) {
    return f(handle(), x.op_a, x.op_b, Int{x.m}, Int{x.n}, Int{x.k}, &x.alpha, x.at_a(), x.types.a, Int{x.lda()}, x.at_b(), x.types.a,
             Int{x.ldb()}, &x.beta, x.at_c(c), x.types.c, Int{x.ldc()}, x.compute, x.algorithm);
}
template <class Int, class Function>
int gemm_strided_ex(Function* f, const Case& x, Bytes& c) {
    return f(handle(), x.op_a, x.op_b, Int{x.m}, Int{x.n}, Int{x.k}, &x.alpha, x.at_a(), x.types.a, Int{x.lda()}, x.stride_a, x.at_b(),
             x.types.a, Int{x.ldb()}, x.stride_b, &x.beta, x.at_c(c), x.types.c, Int{x.ldc()}, x.stride_c, Int{x.batch}, x.compute,
             x.algorithm);
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
        REQUIRE(cublasLtMatmulDescCreate(&product, x.compute, kF32) == 0);
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
    return f(nullptr, lt.product, &x.alpha, x.at_a(), lt.layout_a, x.at_b(), lt.layout_b, &x.beta, x.at_c(c), lt.layout_c, x.at_c(c),
             lt.layout_d, nullptr, nullptr, 0, nullptr);
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

void compare_lt(const Case& x, bool served) {
    const LtCase lt(x);
    compare([&](auto* f, const Case& y, Bytes& c) { return lt_matmul(f, y, lt, c); }, &cublasLtMatmul, BEHIND(cublasLtMatmul), x, served);
}

void compare_all(const Case& x) {
    if (x.types.a == kF32) {
        COMPARE(sgemm<int>, cublasSgemm_v2, x);
        COMPARE(sgemm<std::int64_t>, cublasSgemm_v2_64, x);
    }
    COMPARE(sgemm_ex<int>, cublasSgemmEx, x);
    COMPARE(sgemm_ex<std::int64_t>, cublasSgemmEx_64, x);
    COMPARE(gemm_ex<int>, cublasGemmEx, x);
    COMPARE(gemm_ex<std::int64_t>, cublasGemmEx_64, x);
    compare_lt(x, true);
}

void compare_all_batched(const Case& x) {
    if (x.types.a == kF32) {
        COMPARE(sgemm_strided<int>, cublasSgemmStridedBatched, x);
        COMPARE(sgemm_strided<std::int64_t>, cublasSgemmStridedBatched_64, x);
    }
    COMPARE(gemm_strided_ex<int>, cublasGemmStridedBatchedEx, x);
    COMPARE(gemm_strided_ex<std::int64_t>, cublasGemmStridedBatchedEx_64, x);
    compare_lt(x, true);
}

// The call must reach the stand-in with the arguments that it was given, and give its status.
template <class Function, class... Arguments>
void check_passed(const std::string& why, Function* function, Arguments... arguments) {
    CAPTURE(why);
    const long before = stand_in_calls();
    stand_in_returns(13);
    CHECK(function(arguments...) == 13);
    stand_in_returns(0);
    CHECK(stand_in_calls() - before == 1);
    const auto bits_of = [](auto value) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof value);
        return bits;
    };
    CHECK((stand_in_arguments() == std::vector<std::uint64_t>{bits_of(arguments)...}));
}

struct Ex {
    int op_a = 0, op_b = 0, m = 4, n = 4, k = 4;
    const void* alpha;
    const void* a;
    int type_a = kF32, lda = 4;
    const void* b;
    int type_b = kF32, ldb = 4;
    const void* beta;
    void* c;
    int type_c = kF32, ldc = 4, compute = kCompute32F, algorithm = -1;
};
void check_ex_passed(const std::string& why, const Ex& x) {
    check_passed(why, &cublasGemmEx, handle(), x.op_a, x.op_b, x.m, x.n, x.k, x.alpha, x.a, x.type_a, x.lda, x.b, x.type_b, x.ldb, x.beta,
                 x.c, x.type_c, x.ldc, x.compute, x.algorithm);
}

// Space for any call, full of zeros.
struct Matrices {
    alignas(16) float a[64] = {};
    alignas(16) float b[64] = {};
    alignas(16) float c[64] = {};
    float one = 1;
    float zero = 0;
    Ex ex() {
        Ex x{.alpha = &one, .a = a, .b = b, .beta = &zero, .c = c};
        return x;
    }
};

// Three calls of one shape on the stream.
void call_on(std::uintptr_t stream) {
    Case x;
    x.fill();
    cublasSetStream_v2(handle(), reinterpret_cast<void*>(stream));
    for (int call = 0; call < 3; ++call)
        compare([](auto* f, const Case& y, Bytes& c) { return sgemm<int>(f, y, c); }, &cublasSgemm_v2, BEHIND(cublasSgemm_v2), x, false);
    cublasSetStream_v2(handle(), nullptr);
}

}  // namespace

TEST_CASE("products have the loop's bits") {
    for (const Types types : kTypes)
        for (const int op_a : {0, 1, 2})
            for (const int op_b : {0, 1, 2})
                for (const float beta : {0.0f, 2.0f}) {
                    Case x{.types = types, .op_a = op_a, .op_b = op_b, .beta = beta};
                    compare_all(x.fill());
                }
}

TEST_CASE("products of padded and unaligned matrices have the loop's bits") {
    for (const Types types : kTypes)
        for (const int pad : {3, 8})
            for (const std::size_t offset : {0, 1}) {
                Case x{.types = types, .op_a = 1, .m = 17, .n = 9, .k = 8, .pad = pad, .offset = offset, .alpha = -2, .beta = 1};
                compare_all(x.fill());
            }
}

TEST_CASE("products without k and with alpha 0 scale C") {
    for (const Types types : kTypes)
        for (const float beta : {0.0f, 2.0f}) {
            Case nothing{.types = types, .k = 0, .pad = 1, .beta = beta};
            compare_all(nothing.fill());
            Case scaled{.types = types, .alpha = 0, .beta = beta};
            scaled.fill();
            // What alpha = 0 multiplies is not looked at.
            scaled.a = filled(types.a, 2000, kNan);
            compare_all(scaled);
        }
}

TEST_CASE("batches have the loop's bits") {
    for (const Types types : kTypes) {
        Case apart{.types = types, .op_b = 1, .batch = 3, .stride_a = 40, .stride_b = 24, .stride_c = 64, .beta = 1};
        compare_all_batched(apart.fill());
        Case shared{.types = types, .batch = 4, .stride_a = 0, .stride_b = 12, .stride_c = 15};
        compare_all_batched(shared.fill());
        Case one{.types = types, .batch = 1, .stride_a = -7, .stride_b = 3, .stride_c = 1};
        compare_all_batched(one.fill());
    }
}

TEST_CASE("epilogues of cublasLt have the loop's bits") {
    for (const Types types : kTypes)
        for (const unsigned epilogue : {2, 4, 6})
            for (const float beta : {0.0f, 1.0f}) {
                Case x{.types = types, .op_a = 1, .m = 9, .n = 6, .k = 5, .pad = 1, .alpha = 2, .beta = beta, .epilogue = epilogue};
                compare_lt(x.fill(), true);
                Case batched{.types = types, .batch = 3, .stride_a = 20, .stride_b = 12, .stride_c = 15, .epilogue = epilogue};
                compare_lt(batched.fill(), true);
            }
    for (const int type_bias : {kF32, kF16, kBf16}) {
        Case x{.types = {kBf16, kF32}, .epilogue = 4, .type_bias = type_bias};
        compare_lt(x.fill(), true);
    }
}

TEST_CASE("a GELU of cublasLt is the one with tanh") {
    for (const unsigned epilogue : {32, 36}) {
        Case x{.epilogue = epilogue};
        x.fill();
        const LtCase lt(x);
        Bytes computed = x.c;
        Bytes expected = x.c;
        const long before = stand_in_calls();
        CHECK(lt_matmul(&cublasLtMatmul, x, lt, computed) == 0);
        CHECK(stand_in_calls() == before);
        CHECK(lt_matmul(BEHIND(cublasLtMatmul), x, lt, expected) == 0);
        for (std::size_t at = 0; at < static_cast<std::size_t>(x.m * x.n); ++at) {
            float ours = 0;
            float theirs = 0;
            std::memcpy(&ours, computed.data() + at * 4, 4);
            std::memcpy(&theirs, expected.data() + at * 4, 4);
            // The GELU with erf is up to 5e-4 off from it.
            CHECK(std::abs(ours - theirs) <= 4e-6f * std::max(1.0f, std::abs(theirs)));
        }
    }
}

TEST_CASE("the handle's math mode and the compute type decide what a product promises") {
    Matrices with;
    for (const int mode : {0, 1, 2, 3, 16, 19}) {
        cublasSetMathMode(handle(), mode);
        const long before = stand_in_calls();
        CHECK(cublasSgemm_v2(handle(), 0, 0, 4, 4, 4, &with.one, with.a, 4, with.b, 4, &with.zero, with.c, 4) == 0);
        CHECK(stand_in_calls() == before);
    }
    cublasSetMathMode(handle(), 0);
    for (const int compute : {static_cast<int>(kComputePedantic), static_cast<int>(kComputeTf32)}) {
        const long before = stand_in_calls();
        CHECK(cublasGemmEx(handle(), 0, 0, 4, 4, 4, &with.one, with.a, 0, 4, with.b, 0, 4, &with.zero, with.c, 0, 4, compute, 99) == 0);
        CHECK(stand_in_calls() == before);
    }
}

TEST_CASE("what tmm does not multiply reaches cuBLAS with its arguments") {
    Matrices with;
    const auto passed = [&](const std::string& why, auto change) {
        Ex x = with.ex();
        change(x);
        check_ex_passed(why, x);
    };
    for (const int type : {1, 3, 4, 8, 10, 28, 29, -1}) passed("types of A and B", [&](Ex& x) { x.type_a = x.type_b = type; });
    passed("types that differ", [](Ex& x) { x.type_a = kF16; });
    passed("a type of C", [](Ex& x) { x.type_c = kF16; });
    for (const int compute : {64, 65, 70, 71, 72, 73, 74, 75, 78, 79, 0, -1}) passed("a compute type", [&](Ex& x) { x.compute = compute; });
    passed("a pedantic product of halves", [](Ex& x) { x.type_a = x.type_b = x.type_c = kF16, x.compute = kComputePedantic; });
    for (const int algorithm : {0, 23, 100, 115, 999}) passed("an algorithm", [&](Ex& x) { x.algorithm = algorithm; });
    for (const int op : {3, -1, 77}) {
        passed("an operation of A", [&](Ex& x) { x.op_a = op; });
        passed("an operation of B", [&](Ex& x) { x.op_b = op; });
    }
    passed("sizes", [](Ex& x) { x.m = -1; });
    passed("sizes", [](Ex& x) { x.n = -1; });
    passed("sizes", [](Ex& x) { x.k = -1; });
    passed("no rows", [](Ex& x) { x.m = 0; });
    passed("no columns", [](Ex& x) { x.n = 0; });
    passed("leading dimensions", [](Ex& x) { x.lda = 3; });
    passed("leading dimensions", [](Ex& x) { x.op_a = 1, x.k = 5; });
    passed("leading dimensions", [](Ex& x) { x.ldb = 3; });
    passed("leading dimensions", [](Ex& x) { x.ldc = 3; });
    passed("no matrix", [](Ex& x) { x.a = nullptr; });
    passed("no matrix", [](Ex& x) { x.b = nullptr; });
    passed("no matrix", [](Ex& x) { x.c = nullptr; });
    passed("no scalar", [](Ex& x) { x.alpha = nullptr; });
    passed("no scalar", [](Ex& x) { x.beta = nullptr; });
    passed("an address within an element", [&](Ex& x) { x.a = reinterpret_cast<const char*>(with.a) + 2; });
    check_passed("no handle", &cublasSgemm_v2, static_cast<void*>(nullptr), 0, 0, 4, 4, 4, &with.one, with.a, 4, with.b, 4, &with.zero,
                 with.c, 4);
    check_passed("int8", &cublasSgemmEx, handle(), 0, 0, 4, 4, 4, &with.one, with.a, 3, 4, with.b, 3, 4, &with.zero, with.c, kF32, 4);
    check_passed("overlapping results", &cublasSgemmStridedBatched, handle(), 0, 0, 4, 4, 4, &with.one, with.a, 4, 16LL, with.b, 4, 16LL,
                 &with.zero, with.c, 4, 3LL, 2);
    check_passed("negative strides", &cublasSgemmStridedBatched_64, handle(), 0, 0, std::int64_t{4}, std::int64_t{4}, std::int64_t{4},
                 &with.one, with.a + 16, std::int64_t{4}, -16LL, with.b, std::int64_t{4}, 16LL, &with.zero, with.c, std::int64_t{4}, 16LL,
                 std::int64_t{2});
    check_passed("no members", &cublasGemmStridedBatchedEx, handle(), 0, 0, 4, 4, 4, &with.one, with.a, kF32, 4, 16LL, with.b, kF32, 4,
                 16LL, &with.zero, with.c, kF32, 4, 16LL, 0, kCompute32F, -1);
}

TEST_CASE("a handle's state that tmm does not follow leaves products to cuBLAS") {
    Matrices with;
    cublasSetPointerMode_v2(handle(), 1);
    check_ex_passed("scalars in device memory", with.ex());
    cublasSetPointerMode_v2(handle(), 0);
    for (const int mode : {4, 8, 18 + 32, 32, -1}) {
        cublasSetMathMode(handle(), mode);
        check_ex_passed("math mode", with.ex());
    }
    cublasSetMathMode(handle(), 2);
    Ex halves = with.ex();
    halves.type_a = halves.type_b = halves.type_c = kF16;
    check_ex_passed("pedantic halves", halves);
    cublasSetMathMode(handle(), 0);
    cublasSetSmCountTarget(handle(), 10);
    check_ex_passed("SM count", with.ex());
    cublasSetSmCountTarget(handle(), 0);
}

TEST_CASE("what cublasLtMatmul is asked for besides a product leaves it to cuBLAS") {
    Case x;
    x.beta = 1;
    x.fill();
    const void* const somewhere = x.a.data();
    Bytes d = x.c;
    const auto passed = [&](const std::string& why, auto change, const void* c = nullptr) {
        LtCase lt(x);
        change(lt);
        check_passed(why, &cublasLtMatmul, static_cast<void*>(nullptr), lt.product, static_cast<const void*>(&x.alpha), x.at_a(),
                     lt.layout_a, x.at_b(), lt.layout_b, static_cast<const void*>(&x.beta), c ? c : d.data(), lt.layout_c,
                     static_cast<void*>(d.data()), lt.layout_d, somewhere, d.data(), std::size_t{64}, static_cast<void*>(nullptr));
    };
    // Those of these with a bias have none.
    for (const unsigned epilogue : {4, 6, 36, 130, 134, 136, 152, 160, 164, 192, 208, 256, 512, 0})
        passed("epilogue " + std::to_string(epilogue), [&](LtCase& lt) { lt.set_product<std::uint32_t>(7, epilogue); });
    const auto with_bias = [&](const char* why, std::size_t offset, auto change) {
        passed(why, [&](LtCase& lt) {
            lt.set_product<std::uint32_t>(7, 4);
            lt.set_product<const void*>(8, x.bias.data() + offset);
            change(lt);
        });
    };
    for (const int type : {1, 3, 28}) with_bias("type of the bias", 0, [&](LtCase& lt) { lt.set_product<std::int32_t>(26, type); });
    with_bias("an address within an element", 2, [](LtCase&) {});
    with_bias("a bias for each member", 0, [&](LtCase& lt) {
        lt.set_product<std::int64_t>(10, 8);
        for (void* layout : {lt.layout_a, lt.layout_b, lt.layout_c, lt.layout_d}) {
            LtCase::set_layout<std::int32_t>(layout, 5, 2);
            LtCase::set_layout<std::int64_t>(layout, 6, 100);
        }
    });
    for (const int mode : {1, 2, 3, 4}) passed("pointer mode", [&](LtCase& lt) { lt.set_product<std::int32_t>(2, mode); });
    passed("scale type", [](LtCase& lt) { lt.set_product<std::int32_t>(1, 1); });
    passed("transposed C", [](LtCase& lt) { lt.set_product<std::int32_t>(5, 1); });
    passed("a triangle", [](LtCase& lt) { lt.set_product<std::int32_t>(6, 0); });
    passed("SMs", [](LtCase& lt) { lt.set_product<std::int32_t>(15, 8); });
    for (const int scale : {17, 18, 19, 20, 21, 36}) passed("scales", [&](LtCase& lt) { lt.set_product<const void*>(scale, somewhere); });
    for (const int order : {1, 2, 3, 4}) passed("order", [&](LtCase& lt) { LtCase::set_layout<std::int32_t>(lt.layout_b, 1, order); });
    passed("order of C", [&](LtCase& lt) { LtCase::set_layout<std::int32_t>(lt.layout_c, 1, 1); });
    passed("planes", [](LtCase& lt) { LtCase::set_layout<std::int64_t>(lt.layout_a, 7, 64); });
    passed("pointers", [](LtCase& lt) { LtCase::set_layout<std::uint32_t>(lt.layout_a, 8, 1); });
    passed("rows of A", [](LtCase& lt) { LtCase::set_layout<std::uint64_t>(lt.layout_a, 2, 3); });
    passed("columns of B", [](LtCase& lt) { LtCase::set_layout<std::uint64_t>(lt.layout_b, 3, 2); });
    passed("k", [](LtCase& lt) { LtCase::set_layout<std::uint64_t>(lt.layout_b, 2, 3); });
    passed("members", [](LtCase& lt) { LtCase::set_layout<std::int32_t>(lt.layout_a, 5, 2); });
    passed("another leading dimension of C", [](LtCase& lt) { LtCase::set_layout<std::int64_t>(lt.layout_c, 4, 7); });
    passed(
        "another C", [](LtCase&) {}, x.b.data());
}

TEST_CASE("cublasLtMatmul does not look at C where beta is 0") {
    Case x;
    x.fill();
    const LtCase lt(x);
    Bytes d = x.c;
    Bytes expected = x.c;
    const long before = stand_in_calls();
    CHECK(cublasLtMatmul(nullptr, lt.product, &x.alpha, x.at_a(), lt.layout_a, x.at_b(), lt.layout_b, &x.beta, nullptr, nullptr, d.data(),
                         lt.layout_d, nullptr, nullptr, 0, nullptr) == 0);
    CHECK(stand_in_calls() == before);
    CHECK(lt_matmul(BEHIND(cublasLtMatmul), x, lt, expected) == 0);
    CHECK((d == expected));
}

TEST_CASE("what cuBLAS calls of its own is left to it") {
    Matrices with;
    const long before = stand_in_calls();
    CHECK(cublasGemmStridedBatchedEx(handle(), 0, 0, 4, 4, 4, &with.one, with.a, kF32, 4, 16, with.b, kF32, 4, 16, &with.zero, with.c, kF32,
                                     4, 16, 1, kCompute32F, 5) == 0);
    CHECK(stand_in_calls() == before + 2);
}

TEST_CASE("every call reaches cuBLAS once") {
    Case x;
    x.fill();
    for (int call = 0; call < 2; ++call) {
        compare([](auto* f, const Case& y, Bytes& c) { return sgemm<int>(f, y, c); }, &cublasSgemm_v2, BEHIND(cublasSgemm_v2), x, false);
        compare([](auto* f, const Case& y, Bytes& c) { return gemm_ex<int>(f, y, c); }, &cublasGemmEx, BEHIND(cublasGemmEx), x, false);
        compare_lt(x, false);
    }
}

TEST_CASE("some shapes are called more often than others") {
    const auto times = [](int count, Case x) {
        x.fill();
        for (int call = 0; call < count; ++call) {
            Bytes c = x.c;
            CHECK(gemm_strided_ex<int>(&cublasGemmStridedBatchedEx, x, c) == 0);
        }
    };
    times(3, {.m = 4, .n = 4, .k = 4});
    times(1, {.types = {kF16, kF32}, .op_a = 1, .op_b = 2, .m = 8, .n = 8, .k = 8, .pad = 2, .beta = 1});
    times(2, {.m = 2, .n = 3, .k = 4, .batch = 3, .stride_a = 0, .stride_b = 12, .stride_c = 7, .compute = kComputeTf32});
    times(1, {.k = 0});
}

TEST_CASE("a call reaches cuBLAS whatever its stream does") {
    // The stand-in for the driver takes these for streams that execute, capture, whose capture is void, and of which it knows nothing; the
    // second one is each thread's own default stream.
    for (const std::uintptr_t stream : {0x200, 0x2, 0x300, 0x400, 0x100, 0x200}) call_on(stream);
}

TEST_CASE("a call on a stream reaches cuBLAS") {
    call_on(0x100);
}

TEST_CASE("16 threads multiply at once") {
    constexpr int kThreads = 16;
    constexpr int kShapes = 8;
    std::vector<Case> cases(kShapes);
    std::vector<Bytes> expected;
    for (int shape = 0; shape < kShapes; ++shape) {
        cases[static_cast<std::size_t>(shape)].m = 3 + shape;
        Case& x = cases[static_cast<std::size_t>(shape)].fill();
        expected.push_back(x.c);
        REQUIRE(sgemm<int>(BEHIND(cublasSgemm_v2), x, expected.back()) == 0);
    }
    (void)handle();
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread)
        threads.emplace_back([&, thread] {
            for (int call = 0; call < 20; ++call) {
                const auto shape = static_cast<std::size_t>((thread + call) % kShapes);
                Bytes c = cases[shape].c;
                if (sgemm<int>(&cublasSgemm_v2, cases[shape], c) != 0 || c != expected[shape]) ++wrong;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
}

TEST_CASE("a program goes on until it is told to end") {
    Case x;
    x.fill();
    Bytes expected = x.c;
    CHECK(sgemm<int>(BEHIND(cublasSgemm_v2), x, expected) == 0);
    do {
        Bytes c = x.c;
        REQUIRE(sgemm<int>(&cublasSgemm_v2, x, c) == 0);
        REQUIRE((c == expected));
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    } while (!std::filesystem::exists("end"));
}

// Nothing is asserted of times; whoever works on the path of such calls runs this.
TEST_CASE("nanoseconds of calls that cuBLAS multiplies") {
    Matrices with;
    constexpr int kCalls = 300000;
    const auto time_of = [&](auto* function, int pointer_mode, int algorithm) {
        cublasSetPointerMode_v2(handle(), pointer_mode);
        const auto start = std::chrono::steady_clock::now();
        // The members of C overlap, which tmm finds at the first call.
        for (int call = 0; call < kCalls; ++call)
            function(handle(), 0, 0, 4, 4, 4, &with.one, with.a, 0, 4, 16, with.b, 0, 4, 16, &with.zero, with.c, 0, 4, 3, 2, kCompute32F,
                     algorithm);
        cublasSetPointerMode_v2(handle(), 0);
        return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / kCalls;
    };
    stand_in_returns(13);
    for (int round = 0; round < 3; ++round)
        MESSAGE("the stand-in " << time_of(BEHIND(cublasGemmStridedBatchedEx), 0, -1) << "; with an algorithm "
                                << time_of(&cublasGemmStridedBatchedEx, 0, 0) << "; with scalars on the device "
                                << time_of(&cublasGemmStridedBatchedEx, 1, -1) << "; looked up "
                                << time_of(&cublasGemmStridedBatchedEx, 0, -1));
    stand_in_returns(0);
}
