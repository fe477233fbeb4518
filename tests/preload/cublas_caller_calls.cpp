// Calls one after the other, on streams, by many threads and for as long as the program runs, and what they cost.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "cublas_caller.h"
#include "cublas_stand_in.h"

using namespace cublas_caller;

namespace {

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
    times(4, {.types = {kF64, kF64}, .op_b = 1, .m = 6, .n = 6, .k = 6});
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
        // A child that ends leaves alone what runs beside its parent.
        std::fflush(nullptr);
        const pid_t child = fork();
        if (child == 0) std::exit(0);
        waitpid(child, nullptr, 0);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    } while (!std::filesystem::exists("end"));
}

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
