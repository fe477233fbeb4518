// What the judge of all kernels gives them to multiply: the values, and where they stand.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "generator/problem/number_codec.h"
#include "tests/support/verification_testing.h"
#include "tmm/checks/verify/args.h"
#include "tuner/measure/verification.h"

using namespace verification_testing;

TEST_CASE("what matrices are filled with are numbers of their type, nearest to those of f32") {
    for (u64 i = 0; i < 20000; ++i) {
        const auto wide = static_cast<float>(normal_value(ElementType::f32, 5, i));
        const auto half = static_cast<float>(normal_value(ElementType::f16, 5, i));
        const auto brain = static_cast<float>(normal_value(ElementType::bf16, 5, i));
        // One bit in the last place of f32 may be lost before.
        const float error = std::fabs(wide) * 0x1p-24f;
        CHECK(rounded_to(ElementType::f16, half) == half);
        CHECK(std::fabs(half - wide) <= std::fabs(wide) * 0x1p-11f + error);
        CHECK((std::bit_cast<std::uint32_t>(brain) & 0xffff) == 0);
        // A double goes on where a float ends.
        const double more = normal_value(ElementType::f64, 5, i);
        CHECK(std::fabs(more - static_cast<double>(wide)) <= 0x1p-21);
        CHECK(more != static_cast<double>(static_cast<float>(more)));
        CHECK(std::fabs(brain - wide) <= std::fabs(wide) * 0x1p-8f + error);
    }
    // Ties go to the even one, also where that has one digit more.
    CHECK(rounded(0x101, 8) == 0x100);
    CHECK(rounded(0x103, 8) == 0x104);
    CHECK(rounded(-0x1ff, 8) == -0x200);
    CHECK(rounded(0x1fe, 8) == 0x1fe);
    CHECK(rounded(0x10100, 8) == 0x10000);
}

TEST_CASE("what is verified stands on the alignment that the problem declares and on no better one, what is timed as allocated") {
    for (const auto& [text, alignment] : {std::pair{"16x16x16", 4},
                                          {"16x16x16", 8},
                                          {"16x16x16", 16},
                                          {"16x16x16", 64},
                                          {"16x16x16 dtype=bf16", 2},
                                          {"16x16x16 dtype=f16", 16}}) {
        GemmProblem problem = problem_of(text);
        problem.alignment = alignment;
        Verifier verified(*bench().loader, problem, {.rotation_bytes = 0});
        REQUIRE(verified.rotation_sets() == 1);
        const GemmCall only = verified.timing_call(0, 0);
        for (const void* pointer : {only.a, only.b, static_cast<const void*>(only.c)}) {
            const auto address = reinterpret_cast<std::uintptr_t>(pointer);
            CHECK(address % static_cast<std::uintptr_t>(alignment) == 0);
            CHECK(address % static_cast<std::uintptr_t>(2 * alignment) != 0);
        }
        Verifier verifier(*bench().loader, problem, {.rotation_bytes = 100000});
        CHECK(verifier.rotation_sets() > 1);
        CHECK(verifier.rotation_sets() <= 16);
        const void* previous = nullptr;
        for (int set = 0; set < verifier.rotation_sets(); ++set) {
            const GemmCall call = verifier.timing_call(set, 1000);
            for (const void* pointer : {call.a, call.b, static_cast<const void*>(call.c)}) {
                const auto address = reinterpret_cast<std::uintptr_t>(pointer);
                CHECK(address % static_cast<std::uintptr_t>(alignment) == 0);
                CHECK((address % 256 == 0) == (alignment >= 16));
            }
            CHECK(reinterpret_cast<std::uintptr_t>(call.workspace) % 256 == 0);
            CHECK(call.a != previous);
            previous = call.a;
        }
    }
}

TEST_CASE("timing gets the caller's scalars, and normal values of mean 0 and variance 1") {
    const GemmProblem problem = problem_of("200 20 300 beta=0.5");
    Verifier verifier(*bench().loader, problem, {.alpha = 0.1, .beta = 0.5});
    const GemmCall call = verifier.timing_call(0, 0);
    CHECK(call.alpha == static_cast<double>(0.1f));
    CHECK(call.beta == 0.5);
    CHECK(call.workspace == nullptr);
    std::vector<float> a(200 * 300);
    bench().device->copy_to_host(a.data(), call.a, a.size() * sizeof(float));
    double sum = 0;
    double squares = 0;
    int within_one = 0;
    for (const float value : a) {
        sum += static_cast<double>(value);
        squares += static_cast<double>(value) * static_cast<double>(value);
        within_one += std::fabs(value) < 1;
    }
    const auto count = static_cast<double>(a.size());
    CHECK(std::fabs(sum / count) < 0.02);
    CHECK(std::fabs(squares / count - 1) < 0.02);
    CHECK(std::fabs(within_one / count - 0.6827) < 0.01);
}
