// The judge of all kernels: right ones pass, and each way in which a result is wrong is seen and named.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/error.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/verification_testing.h"
#include "tmm/checks/verify/args.h"
#include "tuner/measure/verification.h"

using namespace verification_testing;

TEST_CASE("right kernels pass, whatever the problem") {
    for (const char* text : {
             "33x29x17",
             "17 40 23 ops=nt",
             "17 40 23 ops=tn lda=19 ldb=44 ldc=41",
             "31 15 9 ops=tt lda=40 ldb=12 ldc=16 align=4",
             "20 20 20 beta=1 align=4",
             "20 20 20 layout=col beta=0.5 alpha=-1.5",
             "5 6 7 batch=3",
             // The results lie side by side in common rows, with space between them and behind them, and otherwise within each other.
             "5 6 7 batch=3 ldc=18 stride_c=6",
             "5 6 7 batch=3 ldc=29 stride_c=8 beta=1",
             "5 6 7 batch=3 ldc=29 stride_c=8 layout=col dtype=bf16 align=2",
             "3 2 9 batch=2 ldc=5 stride_c=7",
             "40 1 9 batch=3 ldc=4 stride_c=3",
             "5 6 7 batch=4 lda=28 stride_a=7 ldb=6 stride_b=1 ldc=24 stride_c=6 ops=nn",
             "1x1x1",
             "1x300x40",
             // There are odd numbers of 2-byte elements, at odd multiples of 2 bytes.
             "33x29x17 dtype=bf16 align=2",
             "17 41 23 dtype=f16 ops=nt lda=25 ldc=43 align=2 beta=0.5",
             "31 15 9 dtype=bf16 ops=tt lda=41 ldb=13 ldc=17 alpha=-1.5 beta=2",
             "5 7 9 dtype=f16 ctype=f32 batch=3 align=2",
             "5 7 9 dtype=bf16 ctype=f32 beta=1",
             "1x1x1 dtype=f16 align=2",
             "20 20 20 layout=col dtype=bf16 beta=0.5",
             // Gates, of columns and of rows.
             "17 20 23 ops=nt epilogue=bias+swiglu",
             "17 20 23 ops=tn ldc=24 alpha=-1.5 epilogue=bias_rows+swiglu_rows+residual ldr=43",
             "20 21 9 layout=col dtype=bf16 batch=3 align=2 epilogue=bias+swiglu+residual",
         }) {
        CAPTURE(text);
        const Shape shape = parse_shape(text);
        const ExecutablePlan executable = bench().plan(shape.problem);
        Verifier verifier(*bench().loader, shape.problem, {.alpha = shape.alpha, .beta = shape.beta});
        const Verdict verdict = verifier.verify(executable);
        CHECK_MESSAGE(verdict.outcome == Outcome::ok, verdict.detail);
        CHECK(verdict.error_ratio >= 0);
        CHECK(verdict.error_ratio <= 1);
        const Verdict again = verifier.verify_again(executable);
        CHECK(again.outcome == Outcome::ok);
        CHECK(again.error_ratio == verdict.error_ratio);
    }
}

TEST_CASE("a 16-bit result one step beside the right one is seen, in whole numbers and in real ones") {
    for (const char* text : {"33x29x17 dtype=bf16", "33x29x17 dtype=f16 align=2", "33x29x700 dtype=bf16"}) {
        for (const int step : {1, -1}) {
            CAPTURE(text);
            CAPTURE(step);
            const auto one_beside = [&](const GemmArgs& args) {
                *half_element(args, 3, 17) = static_cast<std::uint16_t>(*half_element(args, 3, 17) + step);
            };
            Verdict verdict = bench().verdict(problem_of(text), one_beside);
            CHECK(verdict.outcome == Outcome::wrong_result);
            CHECK_MESSAGE(contains(verdict.detail, "C[3][17] = "), verdict.detail);
            CHECK_MESSAGE(contains(verdict.detail, "integers"), verdict.detail);

            int run = 0;
            verdict = bench().verdict(problem_of(text), [&](const GemmArgs& args) {
                if (run++ == 1) one_beside(args);
            });
            CHECK(verdict.outcome == Outcome::inaccurate);
            CHECK_MESSAGE(contains(verdict.detail, "C[3][17] = "), verdict.detail);
            CHECK_MESSAGE(contains(verdict.detail, "breaks the error bound"), verdict.detail);
            CHECK(verdict.error_ratio > 1);
            CHECK(verdict.error_ratio < 3.1);
        }
    }
}

TEST_CASE("products of doubles are judged by more than doubles") {
    const auto element = [](const GemmArgs& args) { return static_cast<double*>(args.c) + 3 * args.ldc + 17; };
    for (const char* text : {"33x29x1 dtype=f64", "33x29x700 dtype=f64 ops=nt beta=1", "33x29x70 dtype=f64 epilogue=bias bias_type=f64"}) {
        CAPTURE(text);
        const Verdict right = bench().verdict(problem_of(text), nullptr);
        CHECK_MESSAGE(right.outcome == Outcome::ok, right.detail);
        CHECK(right.error_ratio > 0);
        // Whole numbers are floats as well.
        const Verdict rounded = bench().verdict(
            problem_of(text), [&](const GemmArgs& args) { *element(args) = static_cast<double>(static_cast<float>(*element(args))); });
        CHECK(rounded.outcome == Outcome::inaccurate);
        CHECK_MESSAGE(contains(rounded.detail, "C[3][17] = "), rounded.detail);
        const Verdict whole = bench().verdict(problem_of(text), [&](const GemmArgs& args) { *element(args) *= 1 + 0x1p-52; });
        CHECK(whole.outcome == Outcome::wrong_result);
    }
    for (const char* text : {"33x29x70 dtype=f64 epilogue=bias+gelu bias_type=f64", "33x29x7 dtype=f64 epilogue=tanh+residual",
                             "20x26x7 dtype=f64 epilogue=swiglu", "20x26x7 dtype=f64 epilogue=gelu_tanh"}) {
        const Verdict right = bench().verdict(problem_of(text), nullptr);
        CAPTURE(text);
        CHECK_MESSAGE(right.outcome == Outcome::ok, right.detail);
    }
    // A single product is off by its one rounding, of three that the bound allows.
    const Verdict one = bench().verdict(problem_of("33x29x1 dtype=f64"), nullptr);
    CHECK(one.error_ratio > 0.2);
    CHECK(one.error_ratio <= 1.0 / 3);
    int run = 0;
    const Verdict beside = bench().verdict(problem_of("33x29x1 dtype=f64"), [&](const GemmArgs& args) {
        if (run++ == 1) *element(args) *= 1 + 8 * 0x1p-52;
    });
    CHECK(beside.outcome == Outcome::inaccurate);
}

TEST_CASE("sums of bytes are judged bit for bit, also where they wrap around") {
    const auto element = [](const GemmArgs& args) { return static_cast<std::uint32_t*>(args.c) + 3 * args.ldc + 17; };
    for (const char* text : {"33x29x1 dtype=s8", "33x29x700 dtype=s8 ops=nt beta=1", "33x29x70 dtype=s8 align=1 ops=tt ldc=40"}) {
        for (const double alpha : {1.0, -2147483648.0, 2147483647.0}) {
            CAPTURE(text);
            CAPTURE(alpha);
            const VerificationOptions options{.alpha = alpha, .beta = -77777};
            const Verdict right = bench().verdict(problem_of(text), nullptr, options);
            CHECK_MESSAGE(right.outcome == Outcome::ok, right.detail);
            CHECK(right.error_ratio == 0);
            // In the run with small integers, and in that with all of a byte's values.
            for (const int wrong_run : {0, 2}) {
                int run = 0;
                const Verdict beside = bench().verdict(
                    problem_of(text),
                    [&](const GemmArgs& args) {
                        if (run++ >= wrong_run) *element(args) ^= 0x80000000u;
                    },
                    options);
                CHECK(beside.outcome == (run > wrong_run ? Outcome::wrong_result : Outcome::ok));
                if (run > wrong_run) CHECK_MESSAGE(contains(beside.detail, "C[3][17] = "), beside.detail);
            }
        }
    }
}

TEST_CASE("whole numbers halfway between two of bf16 must have gone to the even one") {
    const GemmProblem problem = problem_of("8x8x3000 dtype=bf16");
    const VerificationOptions threefold{.alpha = 3};
    const Verdict right = bench().verdict(problem, nullptr, threefold);
    CHECK_MESSAGE(right.outcome == Outcome::ok, right.detail);
    int ties = 0;
    const Verdict verdict = bench().verdict(
        problem,
        [&](const GemmArgs& args) {
            for (i64 row = 0; row < args.m; ++row) {
                for (i64 column = 0; column < args.n; ++column) {
                    float exact = 0;
                    for (i64 k = 0; k < args.k; ++k)
                        exact += bf16_value(static_cast<const std::uint16_t*>(args.a)[row * args.lda + k]) *
                                 bf16_value(static_cast<const std::uint16_t*>(args.b)[k * args.ldb + column]);
                    const auto bits = std::bit_cast<std::uint32_t>(3 * exact);
                    if ((bits & 0xffff) != 0x8000) continue;
                    ++ties;
                    // The value is moved away from zero.
                    *half_element(args, row, column) = static_cast<std::uint16_t>((bits >> 16) + 1);
                }
            }
        },
        threefold);
    REQUIRE(ties > 0);
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "integers"), verdict.detail);
}

TEST_CASE("problems that it can't judge are refused") {
    for (const char* text : {"8 8 8 dtype=f64 ctype=f32", "8 8 8 dtype=f64 compute=f32", "8 8 8 bias_type=f64 epilogue=bias",
                             "8 8 8 dtype=f16 ctype=bf16", "8 8 8 dtype=f16 btype=bf16", "8 8 8 ctype=bf16",
                             "8 8 8 dtype=bf16 compute=f32_strict", "8 8 8 compute=f64", "8 8 8 dtype=f16 compute=tf32"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(Verifier(*bench().loader, problem_of(text)), Error);
    }
}

TEST_CASE("empty problems, alpha = 0 and k = 0 pass without operands") {
    for (auto [m, n, k] : {std::array<i64, 3>{0, 5, 5}, {5, 0, 5}, {5, 6, 0}, {0, 0, 0}}) {
        GemmProblem problem{.m = m, .n = n, .k = k, .lda = std::max<i64>(k, 1), .ldb = std::max<i64>(n, 1), .ldc = std::max<i64>(n, 1)};
        for (const bool reads_c : {false, true}) {
            problem.reads_c = reads_c;
            CAPTURE(to_text(problem));
            const ExecutablePlan executable = bench().plan(problem);
            Verifier verifier(*bench().loader, problem, {.alpha = 2, .beta = 0.75});
            const Verdict verdict = verifier.verify(executable);
            CHECK_MESSAGE(verdict.outcome == Outcome::ok, verdict.detail);
        }
    }
    for (const double beta : {0.0, 1.0}) {
        GemmProblem problem = problem_of("12x13x14");
        problem.reads_c = beta != 0;
        const ExecutablePlan executable = bench().plan(problem);
        Verifier verifier(*bench().loader, problem, {.alpha = 0, .beta = beta});
        const Verdict verdict = verifier.verify(executable);
        CHECK_MESSAGE(verdict.outcome == Outcome::ok, verdict.detail);
    }
}

TEST_CASE("a wrong element is named with what stands there and what should") {
    const Verdict verdict = bench().verdict(problem_of("33x29x17"), [](const GemmArgs& args) { *element(args, 3, 17) += 1; });
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "C[3][17] = "), verdict.detail);
    CHECK_MESSAGE(contains(verdict.detail, ", expected "), verdict.detail);
    CHECK_MESSAGE(contains(verdict.detail, "1 of 957"), verdict.detail);
    CHECK_MESSAGE(contains(verdict.detail, "integers"), verdict.detail);
}

TEST_CASE("an element of a batch is named with its member") {
    const Verdict verdict =
        bench().verdict(problem_of("5 6 7 batch=3"), [](const GemmArgs& args) { element(args, 4, 2)[2 * args.stride_c] = 0.25f; });
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "C[batch 2][4][2] = 0.25"), verdict.detail);
}

TEST_CASE("an element that was not written is told from a wrong one") {
    const Verdict verdict = bench().verdict(problem_of("20x20x20"), [](const GemmArgs& args) {
        *element(args, 19, 19) = std::bit_cast<float>(static_cast<unsigned>(format_of(ElementType::f32).unwritten));
    });
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "C[19][19] was not written"), verdict.detail);
}

TEST_CASE("NaN and infinity are wrong results") {
    for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        const Verdict verdict = bench().verdict(problem_of("20x20x20"), [&](const GemmArgs& args) { *element(args, 0, 0) = value; });
        CHECK(verdict.outcome == Outcome::wrong_result);
        CHECK_MESSAGE(contains(verdict.detail, "C[0][0]"), verdict.detail);
    }
}

TEST_CASE("integers that pass and real values that lost bits are inaccurate") {
    // Results cut to 12 bits: small integers survive that.
    const Verdict verdict = bench().verdict(problem_of("20x20x20"), [](const GemmArgs& args) {
        for (i64 row = 0; row < args.m; ++row) {
            for (i64 column = 0; column < args.n; ++column) {
                float& value = *element(args, row, column);
                value = std::bit_cast<float>(std::bit_cast<unsigned>(value) & 0xfffff000u);
            }
        }
    });
    CHECK(verdict.outcome == Outcome::inaccurate);
    CHECK(verdict.error_ratio > 1);
    CHECK(std::isfinite(verdict.error_ratio));
    CHECK_MESSAGE(contains(verdict.detail, "breaks the error bound"), verdict.detail);
}

TEST_CASE("one lost unit in the last place of a short sum is within the bound, a thousand are not") {
    for (const int units : {1, 1000}) {
        const Verdict verdict = bench().verdict(problem_of("20x20x1"), [&](const GemmArgs& args) {
            float& value = *element(args, 7, 7);
            // Fractions only, so that integers stay right.
            if (value != std::nearbyint(value)) value = std::bit_cast<float>(std::bit_cast<int>(value) + units);
        });
        CHECK(verdict.outcome == (units == 1 ? Outcome::ok : Outcome::inaccurate));
    }
}

TEST_CASE("a wrong candidate does not spoil what the next one gets") {
    const GemmProblem problem = problem_of("20 20 20 beta=1");
    const ExecutablePlan executable = bench().plan(problem);
    Verifier verifier(*bench().loader, problem);
    bench().device->fault = [](const GemmArgs& args) {
        static_cast<float*>(const_cast<void*>(args.a))[0] = 1e6f;
        static_cast<float*>(const_cast<void*>(args.b))[-3] = 0;
        element(args, 0, 0)[-2] = 0;
    };
    CHECK(verifier.verify(executable).outcome == Outcome::wrong_result);
    bench().device->fault = nullptr;
    const Verdict verdict = verifier.verify(executable);
    CHECK_MESSAGE(verdict.outcome == Outcome::ok, verdict.detail);
}

TEST_CASE("C that is read although beta is 0 is seen") {
    const Verdict verdict = bench().verdict(problem_of("20 20 20 beta=1"), [](const GemmArgs& args) {
        if (args.beta == 0)
            *element(args, 5, 5) += 0.0f * std::bit_cast<float>(static_cast<unsigned>(format_of(ElementType::f32).unwritten));
    });
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "C[5][5] was not written, or read before"), verdict.detail);
    CHECK_MESSAGE(contains(verdict.detail, "beta 0"), verdict.detail);
}

TEST_CASE("large problems are checked on sampled rows, their first and last among them, and everywhere for being written") {
    const GemmProblem problem = problem_of("700x20x5");
    const VerificationOptions sampled{.full_check_limit = 1};
    CHECK(bench().verdict(problem, nullptr, sampled).outcome == Outcome::ok);
    for (const i64 row : {0, 3, 4, 63, 64, 127, 128, 639, 640, 699}) {
        const Verdict verdict = bench().verdict(
            problem, [&](const GemmArgs& args) { *element(args, row, 11) += 1; }, sampled);
        CHECK(verdict.outcome == Outcome::wrong_result);
        CHECK_MESSAGE(contains(verdict.detail, fmt::format("C[{}][11]", row)), verdict.detail);
    }
    const Verdict verdict = bench().verdict(
        problem,
        [](const GemmArgs& args) {
            for (i64 row = 200; row < 300; ++row)
                *element(args, row, 3) = std::bit_cast<float>(static_cast<unsigned>(format_of(ElementType::f32).unwritten));
        },
        sampled);
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "was not written"), verdict.detail);
}

TEST_CASE("sampled rows of a gate of rows are those of C, with what each is for") {
    const GemmProblem problem = problem_of("350x20x5 epilogue=bias_rows+swiglu_rows");
    const VerificationOptions sampled{.full_check_limit = 1};
    CHECK(bench().verdict(problem, nullptr, sampled).outcome == Outcome::ok);
    for (const i64 row : {0, 63, 64, 319, 320, 349}) {
        const Verdict verdict = bench().verdict(
            problem, [&](const GemmArgs& args) { *element(args, row, 11) += 1; }, sampled);
        CHECK(verdict.outcome != Outcome::ok);
        CHECK_MESSAGE(contains(verdict.detail, fmt::format("C[{}][11]", row)), verdict.detail);
    }
}
