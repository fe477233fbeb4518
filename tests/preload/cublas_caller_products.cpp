// Products that the program asks cuBLAS for, and that tmm computes in its place.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

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
