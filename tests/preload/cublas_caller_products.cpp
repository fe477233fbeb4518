// Products that the program asks cuBLAS for, and that tmm computes in its place.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "cublas_caller.h"
#include "cublas_stand_in.h"

using namespace cublas_caller;

namespace {

constexpr Types kTypes[] = {{kF32, kF32}, {kF64, kF64}, {kF16, kF16}, {kBf16, kBf16}, {kF16, kF32}, {kBf16, kF32}, {kS8, kS32}};

// lt_is_served: does tmm multiply what cublasLtMatmul is asked for, too?
void compare_all(const Case& x, bool lt_is_served = true) {
    if (x.types.a == kF32) {
        COMPARE(sgemm<int>, cublasSgemm_v2, x);
        COMPARE(sgemm<std::int64_t>, cublasSgemm_v2_64, x);
    }
    if (x.types.a == kF64) {
        COMPARE(dgemm<int>, cublasDgemm_v2, x);
        COMPARE(dgemm<std::int64_t>, cublasDgemm_v2_64, x);
    } else if (x.types.a != kS8) {
        COMPARE(sgemm_ex<int>, cublasSgemmEx, x);
        COMPARE(sgemm_ex<std::int64_t>, cublasSgemmEx_64, x);
    }
    COMPARE(gemm_ex<int>, cublasGemmEx, x);
    COMPARE(gemm_ex<std::int64_t>, cublasGemmEx_64, x);
    compare_lt(x, lt_is_served);
}

bool begins_with_nan(const Bytes& bytes, int type) {
    if (type == kF64) {
        double value = 0;
        std::memcpy(&value, bytes.data(), sizeof value);
        return std::isnan(value);
    }
    std::uint32_t bits = 0;
    std::memcpy(&bits, bytes.data(), size_of(type));
    return type == kF32 ? (bits & 0x7fffffff) > 0x7f800000 : (bits & 0x7fff) > (type == kF16 ? 0x7c00U : 0x7f80U);
}

void compare_all_batched(const Case& x) {
    if (x.types.a == kF32) {
        COMPARE(sgemm_strided<int>, cublasSgemmStridedBatched, x);
        COMPARE(sgemm_strided<std::int64_t>, cublasSgemmStridedBatched_64, x);
    }
    if (x.types.a == kF64) {
        COMPARE(dgemm_strided<int>, cublasDgemmStridedBatched, x);
        COMPARE(dgemm_strided<std::int64_t>, cublasDgemmStridedBatched_64, x);
    }
    COMPARE(gemm_strided_ex<int>, cublasGemmStridedBatchedEx, x);
    COMPARE(gemm_strided_ex<std::int64_t>, cublasGemmStridedBatchedEx_64, x);
    compare_lt(x, true);
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
            compare_all(scaled.fill(), false);
        }
}

TEST_CASE("alpha 0 hides A and B from every product but that of cublasLt") {
    for (const Types types : kTypes) {
        // Whole numbers have no NaN to be hidden.
        if (types.a == kS8) continue;
        for (const float beta : {0.0f, 2.0f})
            for (const float alpha : {0.0f, -0.0f}) {
                Case x{.types = types, .alpha = alpha, .beta = beta};
                x.fill();
                x.a = filled(types.a, 2000, kNan);
                compare_all(x, false);
                for (const unsigned epilogue : {1, 2, 4, 6, 32, 36}) {
                    x.epilogue = epilogue;
                    compare_lt(x, false);
                    const LtCase lt(x);
                    Bytes d = x.c;
                    CHECK(lt_matmul(&cublasLtMatmul, x, lt, d) == 0);
                    CHECK(begins_with_nan(d, types.c));
                }
            }
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

TEST_CASE("batches by arrays of addresses have the loop's bits") {
    for (const Types types : kTypes)
        for (const std::size_t offset : {0, 1}) {
            Case anywhere{
                .types = types, .op_b = 1, .pad = 1, .offset = offset, .batch = 3, .stride_a = 63, .stride_b = 57, .stride_c = 91};
            anywhere.beta = offset == 0 ? 2.0f : 0.0f;
            Case shared{.types = types, .offset = offset, .batch = 4, .stride_a = 0, .stride_b = 12, .stride_c = 15};
            Case one{.types = types, .m = 17, .n = 9, .k = 8, .offset = offset, .alpha = -2, .beta = 1};
            Case nothing{.types = types, .k = 0, .pad = 1, .batch = 2, .stride_c = 18, .beta = 2};
            Case scaled{.types = types, .batch = 2, .stride_a = 20, .stride_b = 12, .stride_c = 15, .alpha = 0, .beta = 2};
            for (Case* x : {&anywhere, &shared, &one, &nothing, &scaled}) {
                x->fill();
                if (types.a == kF32) {
                    COMPARE(sgemm_batched<int>, cublasSgemmBatched, *x);
                    COMPARE(sgemm_batched<std::int64_t>, cublasSgemmBatched_64, *x);
                }
                if (types.a == kF64) {
                    COMPARE(dgemm_batched<int>, cublasDgemmBatched, *x);
                    COMPARE(dgemm_batched<std::int64_t>, cublasDgemmBatched_64, *x);
                }
                COMPARE(gemm_batched_ex<int>, cublasGemmBatchedEx, *x);
                COMPARE(gemm_batched_ex<std::int64_t>, cublasGemmBatchedEx_64, *x);
            }
        }
}

TEST_CASE("triangles have the loop's bits and the other one stays") {
    for (const int type : {kF32, kF64})
        for (const int fill : {0, 1})
            for (const int op : {0, 1, 2})
                for (const int n : {1, 19, 33})
                    for (const int k : {0, 7})
                        for (const int pad : {0, 3})
                            for (const auto& [alpha, beta] : {std::pair{1.0f, 0.0f}, {-2.0f, 2.0f}, {0.0f, 2.0f}}) {
                                // A matrix without rows is one row apart, too.
                                if (k == 0 && pad == 0) continue;
                                Case x{.types = {type, type}, .op_a = op, .op_b = op == 0 ? 1 : 0, .m = n, .n = n, .k = k, .pad = pad};
                                x.alpha = alpha;
                                x.beta = beta;
                                x.uplo = fill;
                                x.fill();
                                if (type == kF32) {
                                    COMPARE(ssyrk<int>, cublasSsyrk_v2, x);
                                    COMPARE(ssyrk<std::int64_t>, cublasSsyrk_v2_64, x);
                                    COMPARE(ssyrkx<int>, cublasSsyrkx, x);
                                    COMPARE(ssyrkx<std::int64_t>, cublasSsyrkx_64, x);
                                } else {
                                    COMPARE(dsyrk<int>, cublasDsyrk_v2, x);
                                    COMPARE(dsyrk<std::int64_t>, cublasDsyrk_v2_64, x);
                                    COMPARE(dsyrkx<int>, cublasDsyrkx, x);
                                    COMPARE(dsyrkx<std::int64_t>, cublasDsyrkx_64, x);
                                }
                            }
}

TEST_CASE("a matrix that meets its own transpose has the loop's bits") {
    for (const Types types : kTypes)
        for (const int op : {0, 1, 2})
            for (const int n : {2, 13, 34}) {
                Case x{.types = types, .op_a = op, .op_b = op == 0 ? 1 : 0, .m = n, .n = n, .k = 9, .pad = 1};
                x.is_one = true;
                compare_all(x.fill());
                x.epilogue = 2;
                compare_lt(x, types.a != kF64 && types.a != kS8);
            }
    for (const Types types : kTypes) {
        Case x{.types = types, .op_b = 1, .m = 6, .n = 6, .batch = 3, .stride_a = 31, .stride_b = 31, .stride_c = 40};
        x.is_one = true;
        compare_all_batched(x.fill());
    }
}

TEST_CASE("what only looks like a matrix that meets its own transpose has the loop's bits") {
    for (const Types types : {Types{kF32, kF32}, Types{kBf16, kBf16}}) {
        Case plain{.types = types, .m = 6, .n = 6, .k = 6};
        Case both{.types = types, .op_a = 1, .op_b = 1, .m = 6, .n = 6, .k = 6};
        Case added{.types = types, .op_b = 1, .m = 6, .n = 6, .beta = 1};
        Case other{.types = types, .op_b = 1, .m = 6, .n = 5};
        Case element{.types = types, .op_b = 1, .m = 1, .n = 1};
        for (Case* x : {&plain, &both, &added, &other, &element}) {
            x->is_one = true;
            x->fill();
            COMPARE(gemm_ex<int>, cublasGemmEx, *x);
        }
        Case apart{.types = types, .op_b = 1, .m = 6, .n = 6, .batch = 3, .stride_a = 31, .stride_b = 30, .stride_c = 40};
        apart.is_one = true;
        apart.fill();
        COMPARE(gemm_strided_ex<int>, cublasGemmStridedBatchedEx, apart);
        Case biased{.types = types, .op_b = 1, .m = 6, .n = 6, .epilogue = 4};
        biased.is_one = true;
        compare_lt(biased.fill(), true);
        // A matrix of its own.
        Case two{.types = types, .op_b = 1, .m = 6, .n = 6};
        two.fill();
        COMPARE(gemm_ex<int>, cublasGemmEx, two);
    }
}

TEST_CASE("a column's bits hang on no other one") {
    constexpr int kK = 1500;
    constexpr int kM = 9;
    std::mt19937 random(7);
    std::vector<float> a(kM * kK);
    std::vector<float> b(40 * kK);
    for (float& value : a) value = static_cast<float>(random() % 1000) / 999 - 0.5f;
    for (float& value : b) value = static_cast<float>(random() % 1000) / 999 - 0.5f;
    const float one = 1;
    const float zero = 0;
    const auto product = [&](int first, int n) {
        std::vector<float> c(static_cast<std::size_t>(kM * n));
        CHECK(cublasSgemm_v2(handle(), 1, 0, kM, n, kK, &one, a.data(), kK, b.data() + first * kK, kK, &zero, c.data(), kM) == 0);
        return c;
    };
    const long before = stand_in_calls();
    for (const int n : {2, 7, 16, 33}) {
        CAPTURE(n);
        const std::vector<float> all = product(0, n);
        for (int column = 0; column < n; ++column) {
            CAPTURE(column);
            const std::vector<float> alone = product(column, 1);
            REQUIRE(std::memcmp(all.data() + column * kM, alone.data(), kM * sizeof(float)) == 0);
        }
    }
    CHECK(stand_in_calls() == before);
}

TEST_CASE("epilogues of cublasLt have the loop's bits") {
    for (const Types types : kTypes)
        for (const unsigned epilogue : {2, 4, 6})
            for (const float beta : {0.0f, 1.0f}) {
                Case x{.types = types, .op_a = 1, .m = 9, .n = 6, .k = 5, .pad = 1, .alpha = 2, .beta = beta, .epilogue = epilogue};
                // Whether cublasLt has epilogues of doubles and whole numbers it says itself.
                const bool served = types.a != kF64 && types.a != kS8;
                compare_lt(x.fill(), served);
                Case batched{.types = types, .batch = 3, .stride_a = 20, .stride_b = 12, .stride_c = 15, .epilogue = epilogue};
                compare_lt(batched.fill(), served);
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
    // FP64 has one mode, which promises what the pedantic one does and knows nothing of TF32.
    for (const int mode : {0, 2, 3})
        for (const int compute : {static_cast<int>(kCompute64F), static_cast<int>(kCompute64FPedantic)}) {
            cublasSetMathMode(handle(), mode);
            Case x{.types = {kF64, kF64}, .compute = compute};
            x.fill();
            COMPARE(gemm_ex<int>, cublasGemmEx, x);
            COMPARE(dgemm<int>, cublasDgemm_v2, x);
        }
    cublasSetMathMode(handle(), 0);
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
