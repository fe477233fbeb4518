// Tests tmmHostSgemm, tmmHostDgemm and tmmHostGemm on matrices in host memory, with every layout, operation and leading dimension, against
// a loop of FMAs and OpenBLAS.
#include <doctest/doctest.h>

#ifdef TMM_TEST_CBLAS
#include <cblas.h>
#endif

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/api_testing.h"

using namespace api_testing;

namespace {

tmmStatus_t host_sgemm(const Fixture& on, const Product& p, const float* a, const float* b, float* c) {
    return tmmHostSgemm(on.handle, p.layout, p.op_a, p.op_b, p.m, p.n, p.k, &p.alpha, a, p.lda(), b, p.ldb(), &p.beta, c, p.ldc());
}

#ifdef TMM_TEST_CBLAS
// tmm's enumerators have CBLAS's values: they are passed on as they are. Both results keep within the bound, so their distance
// keeps within twice the bound.
std::string difference_from_cblas(const Product& p, const std::vector<float>& a, const std::vector<float>& b,
                                  const std::vector<float>& before, const std::vector<float>& c) {
    std::vector<float> theirs = before;
    cblas_sgemm(static_cast<CBLAS_LAYOUT>(p.layout), static_cast<CBLAS_TRANSPOSE>(p.op_a), static_cast<CBLAS_TRANSPOSE>(p.op_b),
                static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k), p.alpha, a.data(), static_cast<int>(p.lda()), b.data(),
                static_cast<int>(p.ldb()), p.beta, theirs.data(), static_cast<int>(p.ldc()));
    for (std::int64_t i = 0; i < p.m; ++i) {
        for (std::int64_t j = 0; j < p.n; ++j) {
            const std::size_t at = p.at_c(i, j);
            double magnitude = std::abs(p.beta == 0 ? 0.0 : static_cast<double>(p.beta) * static_cast<double>(before[at]));
            for (std::int64_t q = 0; q < p.k; ++q)
                magnitude +=
                    std::abs(static_cast<double>(p.alpha) * static_cast<double>(a[p.at_a(i, q)]) * static_cast<double>(b[p.at_b(q, j)]));
            const double apart = std::abs(static_cast<double>(theirs[at]) - static_cast<double>(c[at]));
            if (!(apart <= 2 * static_cast<double>(p.k + 3) * std::ldexp(1.0, -24) * magnitude))
                return p.text() + ": cblas_sgemm gives " + std::to_string(theirs[at]) + ", tmm " + std::to_string(c[at]);
        }
    }
    return "";
}
#else
std::string difference_from_cblas(const Product&, const std::vector<float>&, const std::vector<float>&, const std::vector<float>&,
                                  const std::vector<float>&) {
    return "";
}
#endif

}  // namespace

TEST_CASE("all layouts, operations and leading dimensions agree with the loop and with OpenBLAS") {
    for (const int ordinal : devices()) {
        const Fixture on(ordinal);
        for (const tmmLayout_t layout : {TMM_ROW_MAJOR, TMM_COL_MAJOR}) {
            for (const tmmOperation_t op_a : {TMM_NO_TRANS, TMM_TRANS}) {
                for (const tmmOperation_t op_b : {TMM_NO_TRANS, TMM_TRANS}) {
                    for (const bool padded : {false, true}) {
                        const Product p{.layout = layout,
                                        .op_a = op_a,
                                        .op_b = op_b,
                                        .m = 37,
                                        .n = 29,
                                        .k = 53,
                                        .alpha = 1.25f,
                                        .beta = padded ? -0.75f : 0.0f,
                                        .pad_a = padded ? 7 : 0,
                                        .pad_b = padded ? 1 : 0,
                                        .pad_c = padded ? 3 : 0};
                        const std::vector<float> a = normal_values(p.size_a(), 1);
                        const std::vector<float> b = normal_values(p.size_b(), 2);
                        const std::vector<float> before = normal_values(p.size_c(), 3);
                        std::vector<float> c = before;
                        REQUIRE_MESSAGE(host_sgemm(on, p, a.data(), b.data(), c.data()) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
                        CHECK(difference(p, a, b, before, c) == "");
                        CHECK(difference_from_cblas(p, a, b, before, c) == "");
                    }
                }
            }
        }
    }
}

TEST_CASE("edges: NaN under beta = 0, alpha = 0, k = 0, pointers that are only element-aligned, no element past the last row") {
    for (const int ordinal : devices()) {
        const Fixture on(ordinal);
        // The last stored row ends with its last element: vectors are exactly as long as they must be.
        const Product p{.m = 5, .n = 6, .k = 7, .pad_a = 3, .pad_b = 3, .pad_c = 3};
        std::vector<float> a = normal_values(p.size_a() - 3 + 1, 4);
        std::vector<float> b = normal_values(p.size_b() - 3 + 1, 5);
        const std::vector<float> before(p.size_c() - 3, NAN);
        std::vector<float> c(before.size() + 1, NAN);
        REQUIRE(host_sgemm(on, p, a.data() + 1, b.data() + 1, c.data() + 1) == TMM_STATUS_SUCCESS);
        CHECK(difference(p, {a.begin() + 1, a.end()}, {b.begin() + 1, b.end()}, before, {c.begin() + 1, c.end()}) == "");

        const Product scaled{.m = 5, .n = 6, .k = 7, .alpha = 0, .beta = 2, .pad_c = 1};
        const std::vector<float> ones = normal_values(scaled.size_c(), 6);
        std::vector<float> out = ones;
        REQUIRE(host_sgemm(on, scaled, nullptr, nullptr, out.data()) == TMM_STATUS_SUCCESS);
        CHECK(difference(scaled, {}, {}, ones, out) == "");

        const Product empty{.m = 5, .n = 6, .k = 0, .pad_c = 1};
        const std::vector<float> nans(empty.size_c(), NAN);
        out = nans;
        REQUIRE(host_sgemm(on, empty, nullptr, nullptr, out.data()) == TMM_STATUS_SUCCESS);
        CHECK(difference(empty, {}, {}, nans, out) == "");
    }
}

TEST_CASE("doubles are multiplied as doubles in host memory and the device's, with every layout and operation") {
    for (const int ordinal : devices()) {
        const Fixture on(ordinal);
        for (const tmmLayout_t layout : {TMM_ROW_MAJOR, TMM_COL_MAJOR})
            for (const tmmOperation_t op_a : {TMM_NO_TRANS, TMM_TRANS})
                for (const bool padded : {false, true}) {
                    const Product p{.layout = layout,
                                    .op_a = op_a,
                                    .op_b = padded ? TMM_TRANS : TMM_NO_TRANS,
                                    .m = 37,
                                    .n = 29,
                                    .k = 53,
                                    .alpha = 1.25f,
                                    .beta = padded ? -0.75f : 0.0f,
                                    .pad_a = padded ? 7 : 0,
                                    .pad_b = padded ? 1 : 0,
                                    .pad_c = padded ? 3 : 0,
                                    .type = TMM_F64,
                                    .type_c = TMM_F64};
                    const std::vector<double> a = normal_values<double>(p.size_a(), 1);
                    const std::vector<double> b = normal_values<double>(p.size_b(), 2);
                    const std::vector<double> before = normal_values<double>(p.size_c(), 3);
                    const double alpha = p.alpha, beta = p.beta;
                    std::vector<double> c = before;
                    REQUIRE_MESSAGE(tmmHostDgemm(on.handle, p.layout, p.op_a, p.op_b, p.m, p.n, p.k, &alpha, a.data(), p.lda(), b.data(),
                                                 p.ldb(), &beta, c.data(), p.ldc()) == TMM_STATUS_SUCCESS,
                                    tmmLastError(on.handle));
                    CHECK(difference(p, a, b, before, c) == "");
                    const MatrixOnDevice<double> da(on, a), db(on, b), dc(on, before);
                    REQUIRE_MESSAGE(tmmDgemm(on.handle, p.layout, p.op_a, p.op_b, p.m, p.n, p.k, &alpha, da.data(), p.lda(), db.data(),
                                             p.ldb(), &beta, dc.data(), p.ldc()) == TMM_STATUS_SUCCESS,
                                    tmmLastError(on.handle));
                    on.device->synchronize();
                    CHECK(difference(p, a, b, before, dc.read()) == "");
                }
        // No matrix, and a leading dimension that is too short.
        const double one = 1;
        double c[4] = {};
        for (const auto call : {tmmDgemm, tmmHostDgemm}) {
            CHECK(call(on.handle, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, 2, 2, 2, &one, nullptr, 2, c, 2, &one, c, 2) ==
                  TMM_STATUS_NULL_A);
            CHECK(call(on.handle, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, 2, 2, 2, &one, c, 1, c, 2, &one, c, 2) ==
                  TMM_STATUS_INVALID_LDA);
            CHECK(call(nullptr, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, 2, 2, 2, &one, c, 2, c, 2, &one, c, 2) ==
                  TMM_STATUS_INVALID_HANDLE);
        }
    }
}

TEST_CASE("any problem of one product runs in host memory: of a triangle the other one stays, a symmetric result is whole") {
    for (const int ordinal : devices()) {
        const Fixture on(ordinal);
        for (const tmmLayout_t layout : {TMM_ROW_MAJOR, TMM_COL_MAJOR})
            for (const tmmOperation_t op : {TMM_NO_TRANS, TMM_TRANS})
                for (const tmmResult_t result : {TMM_RESULT_FULL, TMM_RESULT_SYMMETRIC, TMM_RESULT_LOWER, TMM_RESULT_UPPER})
                    for (const int pad : {0, 3}) {
                        CAPTURE(layout);
                        CAPTURE(op);
                        CAPTURE(result);
                        CAPTURE(pad);
                        // C is not read where the result is symmetric, since it is not.
                        const bool reads = pad != 0 && result != TMM_RESULT_SYMMETRIC;
                        const Product p{.layout = layout,
                                        .op_a = op,
                                        .op_b = op == TMM_NO_TRANS ? TMM_TRANS : TMM_NO_TRANS,
                                        .m = 37,
                                        .n = 37,
                                        .k = 21,
                                        .alpha = -2,
                                        .beta = reads ? 3.0f : 0.0f,
                                        .pad_a = pad,
                                        .pad_b = pad,
                                        .pad_c = pad};
                        tmmGemmProblem_t problem;
                        tmmGemmProblemInit(&problem);
                        problem.layout = layout;
                        problem.op_a = p.op_a;
                        problem.op_b = p.op_b;
                        problem.m = p.m;
                        problem.n = p.n;
                        problem.k = p.k;
                        problem.lda = p.lda();
                        problem.ldb = p.ldb();
                        problem.ldc = p.ldc();
                        problem.reads_c = reads ? 1 : 0;
                        problem.result = result;
                        const std::vector<float> a = normal_values(p.size_a(), 1);
                        const std::vector<float> before = reads ? normal_values(p.size_c(), 3) : std::vector<float>(p.size_c(), NAN);
                        std::vector<float> c = before;
                        tmmGemmArgs_t args{};
                        args.struct_size = sizeof args;
                        args.alpha = &p.alpha;
                        args.beta = &p.beta;
                        args.a = args.b = a.data();
                        args.c = c.data();
                        REQUIRE_MESSAGE(tmmHostGemm(on.handle, &problem, &args) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
                        std::vector<float> whole = c;
                        for (std::int64_t i = 0; i < p.m; ++i)
                            for (std::int64_t j = 0; j < p.n; ++j) {
                                const std::size_t at = p.at_c(i, j);
                                const bool stays = (result == TMM_RESULT_LOWER && j > i) || (result == TMM_RESULT_UPPER && j < i);
                                if (stays) {
                                    REQUIRE(std::memcmp(&c[at], &before[at], sizeof c[at]) == 0);
                                    // What the loop would have there is that of its mirror image, but for C.
                                    whole[at] = c[p.at_c(j, i)] + p.beta * (reads ? before[at] - before[p.at_c(j, i)] : 0);
                                }
                                if (result == TMM_RESULT_SYMMETRIC) REQUIRE(c[at] == c[p.at_c(j, i)]);
                            }
                        CHECK(difference(p, a, a, before, whole) == "");
                    }
    }
}

TEST_CASE("batches, arrays of pointers, biases and residuals are refused in host memory") {
    const Fixture on(TMM_DEVICE_HOST);
    const float one = 1;
    const float a[4] = {1, 2, 3, 4};
    float c[4] = {5, 6, 7, 8};
    const auto status = [&](auto change) {
        tmmGemmProblem_t problem;
        tmmGemmProblemInit(&problem);
        problem.m = problem.n = problem.k = problem.lda = problem.ldb = problem.ldc = problem.ldr = 2;
        change(problem);
        tmmGemmArgs_t args{};
        args.struct_size = sizeof args;
        args.alpha = args.beta = &one;
        args.a = args.b = a;
        args.c = c;
        return tmmHostGemm(on.handle, &problem, &args);
    };
    CHECK(status([](tmmGemmProblem_t& p) { p.batch = 2, p.stride_c = 4; }) == TMM_STATUS_INVALID_BATCH);
    CHECK(status([](tmmGemmProblem_t& p) { p.pointer_array = 1; }) == TMM_STATUS_INVALID_BATCH);
    CHECK(status([](tmmGemmProblem_t& p) { p.has_bias = 1; }) == TMM_STATUS_UNSUPPORTED_EPILOGUE);
    CHECK(status([](tmmGemmProblem_t& p) { p.has_residual = 1; }) == TMM_STATUS_UNSUPPORTED_EPILOGUE);
    CHECK(status([](tmmGemmProblem_t& p) { p.result = TMM_RESULT_LOWER, p.n = 1; }) == TMM_STATUS_NOT_SQUARE);
    CHECK(status([](tmmGemmProblem_t&) {}) == TMM_STATUS_BETA_NOT_DECLARED);
    for (int i = 0; i < 4; ++i) CHECK(c[i] == static_cast<float>(5 + i));
    CHECK(tmmHostGemm(nullptr, nullptr, nullptr) == TMM_STATUS_INVALID_HANDLE);
    CHECK(tmmHostGemm(on.handle, nullptr, nullptr) == TMM_STATUS_NULL_POINTER);
}
