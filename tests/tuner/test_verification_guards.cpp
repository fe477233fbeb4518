// The judge of all kernels sees each write about the matrices, between their elements, and to what is only read.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "generator/choice/search_space.h"
#include "generator/text/text.h"
#include "tests/support/verification_testing.h"
#include "tmm/checks/verify/args.h"
#include "tuner/measure/verification.h"

using namespace verification_testing;

TEST_CASE("every 2 bytes around 16-bit elements are watched") {
    const GemmProblem problem = problem_of("5 7 9 dtype=bf16 lda=11 ldb=9 ldc=11 align=2");
    const struct {
        Fault fault;
        const char* detail;
    } faults[] = {
        {[](const GemmArgs& args) { half_element(args, 0, 0)[-1] = 0; }, "guard zone before C (1 elements"},
        {[](const GemmArgs& args) { half_element(args, 4, 6)[1] = 0; }, "guard zone behind C (1 elements"},
        {[](const GemmArgs& args) { *half_element(args, 3, 7) = 0; }, "padding of C behind row 3"},
        {[](const GemmArgs& args) { static_cast<std::uint16_t*>(const_cast<void*>(args.a))[4 * args.lda + 8] ^= 1; }, "A[4][8] changed"},
        {[](const GemmArgs& args) { static_cast<std::uint16_t*>(const_cast<void*>(args.b))[7 * args.ldb + 7] = 1; },
         "padding of B behind row 7"},
        {[](const GemmArgs& args) { *half_element(args, 4, 6) = static_cast<std::uint16_t>(format_of(ElementType::bf16).unwritten); },
         "C[4][6] was not written"},
    };
    for (const auto& [fault, detail] : faults) {
        const Verdict verdict = bench().verdict(problem, fault);
        CHECK(verdict.outcome == Outcome::wrong_result);
        CHECK_MESSAGE(contains(verdict.detail, detail), verdict.detail);
    }
}

TEST_CASE("a write outside of C is seen: before, behind, between rows and between matrices") {
    struct Place {
        const char* problem;
        std::function<void(const GemmArgs&)> write;
        const char* named;
    };
    for (const Place& place : std::vector<Place>{
             {"20x20x20", [](const GemmArgs& args) { element(args, 0, 0)[-1] = 1; }, "guard zone before C (1 elements"},
             {"20x20x20", [](const GemmArgs& args) { element(args, 19, 19)[1] = 1; }, "guard zone behind C (1 elements"},
             {"20x20x20", [](const GemmArgs& args) { element(args, 19, 19)[1000] = 1; }, "guard zone behind C (1000 elements"},
             {"20 20 20 ldc=24", [](const GemmArgs& args) { *element(args, 3, 20) = 0; }, "padding of C behind row 3 (column 20 of 20)"},
         }) {
        const Verdict verdict = bench().verdict(problem_of(place.problem), place.write);
        CHECK(verdict.outcome == Outcome::wrong_result);
        CHECK_MESSAGE(contains(verdict.detail, place.named), verdict.detail);
    }
    GemmProblem apart = problem_of("5 6 7 batch=3");
    apart.stride_c = 40;
    const Verdict verdict = bench().verdict(apart, [](const GemmArgs& args) { element(args, 0, 0)[40 + 33] = 0; });
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "space behind C[batch 1]"), verdict.detail);
}

TEST_CASE("a write between results that lie within each other is seen, and one into another member's result is named") {
    struct Place {
        const char* problem;
        i64 offset;
        const char* named;
    };
    for (const auto& [problem, offset, named] :
         {Place{"5 6 7 batch=3 ldc=29 stride_c=8", 6, "space between the rows of C (6 elements"},
          Place{"5 6 7 batch=3 ldc=29 stride_c=8", 29 + 15, "space between the rows of C (44 elements"},
          Place{"5 6 7 batch=3 ldc=29 stride_c=8", 22, "space between the rows of C (22 elements"},
          Place{"5 6 7 batch=3 ldc=29 stride_c=8", 4 * 29 + 16 + 6, "guard zone behind C (1 elements"},
          Place{"3 2 9 batch=2 ldc=5 stride_c=7", 9, "space between the rows of C (9 elements"},
          Place{"5 6 7 batch=3 ldc=29 stride_c=8", 2 * 29 + 8 + 1, "C[batch 1][2][1]"}}) {
        CAPTURE(std::string(problem));
        const Verdict verdict =
            bench().verdict(problem_of(problem), [at = offset](const GemmArgs& args) { static_cast<float*>(args.c)[at] = 1e6f; });
        CHECK(verdict.outcome == Outcome::wrong_result);
        CHECK_MESSAGE(contains(verdict.detail, named), verdict.detail);
    }
}

TEST_CASE("which words hold elements, against trying every element") {
    for (i64 rows = 1; rows <= 4; ++rows)
        for (i64 columns = 1; columns <= 3; ++columns)
            for (i64 ld = columns; ld <= columns + 7; ++ld)
                for (i64 batch = 1; batch <= 5; ++batch)
                    for (i64 stride = 0; stride <= rows * ld + 1; ++stride) {
                        MatrixRegion region{.rows = rows, .columns = columns, .ld = ld, .stride = batch > 1 ? stride : 0, .batch = batch};
                        region.span = (batch - 1) * region.stride + (rows - 1) * ld + columns;
                        std::vector<bool> expected(static_cast<std::size_t>(region.span));
                        for (i64 member = 0; member < batch; ++member)
                            for (i64 row = 0; row < rows; ++row)
                                for (i64 column = 0; column < columns; ++column)
                                    expected[static_cast<std::size_t>(member * region.stride + row * ld + column)] = true;
                        for (i64 offset = -2; offset < region.span + 2; ++offset) {
                            const bool inside = offset >= 0 && offset < region.span;
                            if (holds_element(region, offset) != (inside && expected[static_cast<std::size_t>(offset)]))
                                FAIL_CHECK(
                                    fmt::format("{}x{} ld={} batch={} stride={} offset={}", rows, columns, ld, batch, stride, offset));
                        }
                    }
}

TEST_CASE("a write into an operand or about it is seen") {
    Verdict verdict =
        bench().verdict(problem_of("20x20x20"), [](const GemmArgs& args) { static_cast<float*>(const_cast<void*>(args.a))[22] = 9; });
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "A[1][2] changed"), verdict.detail);
    verdict =
        bench().verdict(problem_of("20x20x20"), [](const GemmArgs& args) { static_cast<float*>(const_cast<void*>(args.b))[400] = 9; });
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "guard zone behind B"), verdict.detail);
}

TEST_CASE("split-K's workspace is guarded too") {
    GemmProblem problem = problem_of("20x20x64");
    KernelConfig config;
    bool found = false;
    for (const KernelConfig& candidate : search_space(problem, bench().device->info(), Effort::full).candidates) {
        if (partial_results(candidate) > 1 && !found) {
            config = candidate;
            found = true;
        }
    }
    REQUIRE(found);
    CAPTURE(to_text(config));
    const ExecutablePlan executable = bench().plan(problem, config);
    const std::int64_t bytes = executable.plan().workspace_bytes;
    REQUIRE(bytes > 0);
    Verifier verifier(*bench().loader, problem);
    Verdict verdict = verifier.verify(executable);
    CHECK_MESSAGE(verdict.outcome == Outcome::ok, verdict.detail);
    bench().device->fault = [&](const GemmArgs& args) { static_cast<float*>(args.workspace)[bytes / 4] = 0; };
    verdict = verifier.verify(executable);
    bench().device->fault = nullptr;
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "guard zone behind the workspace changed"), verdict.detail);
}
