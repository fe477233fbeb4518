// The judge's reference against a BLAS.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <variant>
#include <vector>

#include "tests/support/verification_testing.h"
#include "tmm/checks/verify/args.h"
#include "tuner/measure/verification.h"

#ifdef TMM_TEST_CBLAS
#include <cblas.h>
#endif

using namespace verification_testing;

TEST_CASE("the reference agrees with OpenBLAS in double precision") {
#ifndef TMM_TEST_CBLAS
    MESSAGE("skipped: built without OpenBLAS (install libopenblas-dev)");
#else
    auto loaded = bench().loader->load(make_verify_source(), "tmm_verify_reference");
    REQUIRE(std::holds_alternative<KernelLoader::Loaded>(loaded));
    const auto kernel = std::get<KernelLoader::Loaded>(loaded).kernel;
    for (const char* text : {"70x90x33", "70 90 33 ops=nt lda=40", "129 17 64 ops=tn ldb=21", "3 200 50 ops=tt lda=9 ldb=55", "1x1x500"}) {
        CAPTURE(text);
        const GemmProblem p = problem_of(text);
        std::vector<float> a(static_cast<std::size_t>(stored_rows_a(p) * p.lda));
        std::vector<float> b(static_cast<std::size_t>(stored_rows_b(p) * p.ldb));
        for (std::size_t i = 0; i < a.size(); ++i)
            a[i] = static_cast<float>(content_value(ElementType::f32, contents::normal, 11, static_cast<i64>(i)));
        for (std::size_t i = 0; i < b.size(); ++i)
            b[i] = static_cast<float>(content_value(ElementType::f32, contents::normal, 12, static_cast<i64>(i)));
        const std::vector<double> wide_a(a.begin(), a.end());
        const std::vector<double> wide_b(b.begin(), b.end());
        std::vector<double> expected(static_cast<std::size_t>(p.m * p.n));
        const auto op = [](Operation o) { return o == Operation::none ? CblasNoTrans : CblasTrans; };
        cblas_dgemm(CblasRowMajor, op(p.op_a), op(p.op_b), static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k), 1,
                    wide_a.data(), static_cast<int>(p.lda), wide_b.data(), static_cast<int>(p.ldb), 0, expected.data(),
                    static_cast<int>(p.n));

        const bool a_plain = p.op_a == Operation::none;
        const bool b_plain = p.op_b == Operation::none;
        // All rows are compared, then two of them in an order of their own.
        for (const std::vector<i64>& rows : {std::vector<i64>{}, std::vector<i64>{p.m - 1, 0}}) {
            const i64 row_count = rows.empty() ? p.m : static_cast<i64>(rows.size());
            std::vector<double> sum(static_cast<std::size_t>(row_count * p.n));
            std::vector<double> magnitude(sum.size());
            const ReferenceArgs args{.a = a.data(),
                                     .b = b.data(),
                                     .rows = rows.empty() ? nullptr : rows.data(),
                                     .sum = sum.data(),
                                     .magnitude = magnitude.data(),
                                     .row_count = row_count,
                                     .n = p.n,
                                     .k = p.k,
                                     .a_step_m = a_plain ? p.lda : 1,
                                     .a_step_k = a_plain ? 1 : p.lda,
                                     .b_step_k = b_plain ? p.ldb : 1,
                                     .b_step_n = b_plain ? 1 : p.ldb};
            bench().device->launch(*kernel, {.grid = 3, .threads = 256}, &args, sizeof args, nullptr);
            double worst = 0;
            bool bounded = true;
            for (i64 i = 0; i < row_count; ++i) {
                for (i64 j = 0; j < p.n; ++j) {
                    const auto at = static_cast<std::size_t>(i * p.n + j);
                    const i64 row = rows.empty() ? i : rows[static_cast<std::size_t>(i)];
                    const double reference = expected[static_cast<std::size_t>(row * p.n + j)];
                    worst = std::max(worst, std::fabs(sum[at] - reference));
                    bounded = bounded && magnitude[at] >= std::fabs(reference) && magnitude[at] < 5 * static_cast<double>(p.k);
                }
            }
            CHECK(worst < 1e-11);
            CHECK(bounded);
        }
    }
#endif
}
