// Calls that tmm leaves to cuBLAS: they reach it with their arguments.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "cublas_caller.h"
#include "cublas_stand_in.h"

using namespace cublas_caller;

namespace {

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
Ex ex_of(Matrices& with) {
    Ex x{.alpha = &with.one, .a = with.a, .b = with.b, .beta = &with.zero, .c = with.c};
    return x;
}

}  // namespace

TEST_CASE("what tmm does not multiply reaches cuBLAS with its arguments") {
    Matrices with;
    const auto passed = [&](const std::string& why, auto change) {
        Ex x = ex_of(with);
        change(x);
        check_ex_passed(why, x);
    };
    for (const int type : {1, 3, 4, 8, 10, 28, 29, -1}) passed("types of A and B", [&](Ex& x) { x.type_a = x.type_b = type; });
    passed("types that differ", [](Ex& x) { x.type_a = kF16; });
    passed("a type of C", [](Ex& x) { x.type_c = kF16; });
    passed("doubles into floats", [](Ex& x) { x.type_a = x.type_b = kF64, x.compute = kCompute64F; });
    passed("bytes into floats", [](Ex& x) { x.type_a = x.type_b = kS8; });
    passed("bytes summed in floats", [](Ex& x) { x.type_a = x.type_b = kS8, x.type_c = kS32; });
    passed("whole numbers of 32 bits", [](Ex& x) { x.type_a = x.type_b = x.type_c = kS32, x.compute = kCompute32I; });
    passed("doubles summed in floats", [](Ex& x) { x.type_a = x.type_b = x.type_c = kF64; });
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
    check_passed("doubles", &cublasSgemmEx, handle(), 0, 0, 4, 4, 4, &with.one, with.a, kF64, 4, with.b, kF64, 4, &with.zero, with.c, kF64,
                 4);
    check_passed("int8", &cublasSgemmEx, handle(), 0, 0, 4, 4, 4, &with.one, with.a, 3, 4, with.b, 3, 4, &with.zero, with.c, kF32, 4);
    check_passed("overlapping results", &cublasSgemmStridedBatched, handle(), 0, 0, 4, 4, 4, &with.one, with.a, 4, 16LL, with.b, 4, 16LL,
                 &with.zero, with.c, 4, 3LL, 2);
    check_passed("negative strides", &cublasSgemmStridedBatched_64, handle(), 0, 0, std::int64_t{4}, std::int64_t{4}, std::int64_t{4},
                 &with.one, with.a + 16, std::int64_t{4}, -16LL, with.b, std::int64_t{4}, 16LL, &with.zero, with.c, std::int64_t{4}, 16LL,
                 std::int64_t{2});
    check_passed("no members", &cublasGemmStridedBatchedEx, handle(), 0, 0, 4, 4, 4, &with.one, with.a, kF32, 4, 16LL, with.b, kF32, 4,
                 16LL, &with.zero, with.c, kF32, 4, 16LL, 0, kCompute32F, -1);
}

TEST_CASE("triangles and arrays of addresses that tmm does not take reach cuBLAS with their arguments") {
    Matrices with;
    const float* const a[] = {with.a, with.a};
    const float* const b[] = {with.b, with.b};
    float* const c[] = {with.c, with.c + 16};
    struct Syrk {
        int fill = 0, op = 0, n = 4, k = 4, lda = 4, ldc = 4;
        const float* a = nullptr;
        float* c = nullptr;
    };
    const auto triangle = [&](const std::string& why, auto change) {
        Syrk x{.a = with.a, .c = with.c};
        change(x);
        check_passed(why, &cublasSsyrk_v2, handle(), x.fill, x.op, x.n, x.k, &with.one, x.a, x.lda, &with.zero, x.c, x.ldc);
        check_passed(why, &cublasSsyrkx, handle(), x.fill, x.op, x.n, x.k, &with.one, x.a, x.lda, with.b, x.lda, &with.zero, x.c, x.ldc);
    };
    for (const int fill : {2, 3, -1, 121}) triangle("a fill mode", [&](Syrk& x) { x.fill = fill; });
    for (const int op : {3, -1, 111}) triangle("an operation", [&](Syrk& x) { x.op = op; });
    triangle("sizes", [](Syrk& x) { x.n = -1; });
    triangle("sizes", [](Syrk& x) { x.k = -1; });
    triangle("no rows", [](Syrk& x) { x.n = 0; });
    triangle("leading dimensions", [](Syrk& x) { x.lda = 3; });
    triangle("leading dimensions", [](Syrk& x) { x.op = 1, x.k = 5; });
    triangle("leading dimensions", [](Syrk& x) { x.ldc = 3; });
    triangle("no matrix", [](Syrk& x) { x.a = nullptr; });
    triangle("no matrix", [](Syrk& x) { x.c = nullptr; });
    check_passed("no handle", &cublasSsyrk_v2, static_cast<void*>(nullptr), 0, 0, 4, 4, &with.one, with.a, 4, &with.zero, with.c, 4);
    check_passed("another leading dimension of B", &cublasSsyrkx, handle(), 0, 0, 4, 4, &with.one, with.a, 4, with.b, 3, &with.zero, with.c,
                 4);

    const auto arrays = [&](const std::string& why, const float* const* at_a, const float* const* at_b, float* const* at_c, int lda = 4,
                            int batch = 2) {
        check_passed(why, &cublasSgemmBatched, handle(), 0, 0, 4, 4, 4, &with.one, at_a, lda, at_b, 4, &with.zero, at_c, 4, batch);
    };
    arrays("no array", nullptr, b, c);
    arrays("no array", a, nullptr, c);
    arrays("no array", a, b, nullptr);
    arrays("leading dimensions", a, b, c, 3);
    arrays("no members", a, b, c, 4, 0);
    arrays("members", a, b, c, 4, -1);
    check_passed("types that differ", &cublasGemmBatchedEx, handle(), 0, 0, 4, 4, 4, static_cast<const void*>(&with.one),
                 reinterpret_cast<const void* const*>(a), static_cast<int>(kF16), 4, reinterpret_cast<const void* const*>(b),
                 static_cast<int>(kF32), 4, static_cast<const void*>(&with.zero), reinterpret_cast<void* const*>(c), static_cast<int>(kF32),
                 4, 2, static_cast<int>(kCompute32F), -1);
    check_passed("an algorithm", &cublasGemmBatchedEx, handle(), 0, 0, 4, 4, 4, static_cast<const void*>(&with.one),
                 reinterpret_cast<const void* const*>(a), static_cast<int>(kF32), 4, reinterpret_cast<const void* const*>(b),
                 static_cast<int>(kF32), 4, static_cast<const void*>(&with.zero), reinterpret_cast<void* const*>(c), static_cast<int>(kF32),
                 4, 2, static_cast<int>(kCompute32F), 3);

    cublasSetPointerMode_v2(handle(), 1);
    triangle("scalars in device memory", [](Syrk&) {});
    arrays("scalars in device memory", a, b, c);
    cublasSetPointerMode_v2(handle(), 0);
}

TEST_CASE("a handle's state that tmm does not follow leaves products to cuBLAS") {
    Matrices with;
    cublasSetPointerMode_v2(handle(), 1);
    check_ex_passed("scalars in device memory", ex_of(with));
    cublasSetPointerMode_v2(handle(), 0);
    for (const int mode : {4, 8, 18 + 32, 32, -1}) {
        cublasSetMathMode(handle(), mode);
        check_ex_passed("math mode", ex_of(with));
    }
    cublasSetMathMode(handle(), 2);
    Ex halves = ex_of(with);
    halves.type_a = halves.type_b = halves.type_c = kF16;
    check_ex_passed("pedantic halves", halves);
    cublasSetMathMode(handle(), 0);
    cublasSetSmCountTarget(handle(), 10);
    check_ex_passed("SM count", ex_of(with));
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
    x.alpha = 0;
    passed("alpha 0", [](LtCase&) {});
    x.alpha = 1;
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

TEST_CASE("what cuBLAS calls of its own is left to it") {
    Matrices with;
    const long before = stand_in_calls();
    CHECK(cublasGemmStridedBatchedEx(handle(), 0, 0, 4, 4, 4, &with.one, with.a, kF32, 4, 16, with.b, kF32, 4, 16, &with.zero, with.c, kF32,
                                     4, 16, 1, kCompute32F, 5) == 0);
    CHECK(stand_in_calls() == before + 2);
}
