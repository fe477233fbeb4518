// Calls of a process that forks, cancels threads and throws. TMM_TEST_FULL=1 does each a thousand times.
#include <doctest/doctest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "cublas_caller.h"
#include "cublas_stand_in.h"

using namespace cublas_caller;

namespace {

const int kRounds = std::getenv("TMM_TEST_FULL") ? 1000 : 60;

// A product, and what it should come to.
struct Known {
    Known() {
        x.fill();
        expected = x.c;
        (void)sgemm<int>(BEHIND(cublasSgemm_v2), x, expected);
    }
    bool is_right() const {
        Bytes c = x.c;
        return sgemm<int>(&cublasSgemm_v2, x, c) == 0 && c == expected;
    }
    Case x;
    Bytes expected;
};

struct Multiplier {
    explicit Multiplier(const Known& its_product) : product(its_product) { pthread_create(&thread, nullptr, run, this); }
    static void* run(void* self) {
        auto& multiplier = *static_cast<Multiplier*>(self);
        while (!multiplier.stops) {
            if (!multiplier.product.is_right()) multiplier.is_wrong = true;
            pthread_testcancel();
        }
        return nullptr;
    }
    const Known& product;
    pthread_t thread;
    std::atomic<bool> stops = false;
    std::atomic<bool> is_wrong = false;
};

// 97 where it hangs.
int status_of_child(const Known& product) {
    const pid_t child = fork();
    if (child == 0) {
        const long before = stand_in_calls();
        const bool right = product.is_right() && product.is_right();
        _exit(!right ? 1 : stand_in_calls() == before + 2 ? 0 : 2);
    }
    int status = 0;
    for (int waited_ms = 0; waited_ms < 60'000; ++waited_ms) {
        if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
        usleep(1000);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return 97;
}

}  // namespace

TEST_CASE("children call what stands behind while threads of their parent multiply") {
    const Known product;
    REQUIRE(product.is_right());
    Multiplier multiplier(product);
    for (int round = 0; round < kRounds; ++round) {
        CAPTURE(round);
        usleep(static_cast<useconds_t>(round % 7 * 100));
        REQUIRE(status_of_child(product) == 0);
    }
    multiplier.stops = true;
    pthread_join(multiplier.thread, nullptr);
    CHECK_FALSE(multiplier.is_wrong);
    CHECK(product.is_right());
}

TEST_CASE("threads are cancelled behind their products") {
    const Known product;
    for (int round = 0; round < kRounds; ++round) {
        Multiplier multiplier(product);
        usleep(static_cast<useconds_t>(round % 11 * 100));
        pthread_cancel(multiplier.thread);
        void* result = nullptr;
        pthread_join(multiplier.thread, &result);
        REQUIRE(result == PTHREAD_CANCELED);
        REQUIRE_FALSE(multiplier.is_wrong);
    }
    CHECK(product.is_right());
}

TEST_CASE("what cuBLAS throws reaches the program") {
    const Known product;
    for (int round = 0; round < kRounds; ++round) {
        stand_in_throws(true);
        CHECK_THROWS_AS(product.is_right(), int);
        stand_in_throws(false);
        REQUIRE(product.is_right());
    }
}
