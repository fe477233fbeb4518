// A program whose shapes are raced: it multiplies until its log says what TMM_TEST_UNTIL names, and then tells who multiplies.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "cublas_caller.h"
#include "cublas_stand_in.h"

using namespace cublas_caller;

namespace {

bool log_says(const std::string& words) {
    std::ifstream stream("log");
    return std::string(std::istreambuf_iterator<char>(stream), {}).find(words) != std::string::npos;
}

struct RacedProduct {
    RacedProduct() {
        x.fill();
        expected = x.c;
        if (is_triangle)
            (void)ssyrk<int>(BEHIND(cublasSsyrk_v2), x, expected);
        else
            (void)sgemm<int>(BEHIND(cublasSgemm_v2), x, expected);
    }
    // The longest call of the program's own, in milliseconds.
    void call() {
        Bytes c = x.c;
        const auto began = std::chrono::steady_clock::now();
        REQUIRE((is_triangle ? ssyrk<int>(&cublasSsyrk_v2, x, c) : sgemm<int>(&cublasSgemm_v2, x, c)) == 0);
        REQUIRE((c == expected));
        longest_ms = std::max(longest_ms, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count());
    }
    const bool is_triangle = std::getenv("TMM_TEST_TRIANGLE") != nullptr;
    // No kernel of the emulated device is as fast as a loop over 512 products.
    Case x = std::getenv("TMM_TEST_SMALL") ? Case{.m = 8, .n = 8, .k = 8}
             : is_triangle                 ? Case{.op_b = 1, .m = 40, .n = 40, .k = 32}
                                           : Case{.m = 48, .n = 40, .k = 32};
    Bytes expected;
    double longest_ms = 0;
};

void call_until(RacedProduct& product, const std::string& words) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!log_says(words) && std::chrono::steady_clock::now() < end) {
        const auto round = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
        do product.call();
        while (std::chrono::steady_clock::now() < round);
    }
    CHECK(log_says(words));
}

}  // namespace

TEST_CASE("a program multiplies until its log says so") {
    RacedProduct product;
    call_until(product, std::getenv("TMM_TEST_UNTIL"));
    const long before = stand_in_calls();
    for (int call = 0; call < 10; ++call) product.call();
    std::printf("calls behind: %ld of 10\nlongest: %.1f ms\n", stand_in_calls() - before, product.longest_ms);
}

TEST_CASE("a program forks while its shapes are raced") {
    RacedProduct product;
    for (int round = 0; round < 40; ++round) {
        product.call();
        std::fflush(nullptr);
        const pid_t child = fork();
        if (child == 0) {
            const long before = stand_in_calls();
            product.call();
            std::exit(stand_in_calls() == before + 1 ? 0 : 1);
        }
        int status = -1;
        REQUIRE(waitpid(child, &status, 0) == child);
        REQUIRE(status == 0);
    }
    call_until(product, std::getenv("TMM_TEST_UNTIL"));
}
