// Tests which kept results say nothing of their candidate.
#include <doctest/doctest.h>

#include "tuner/search/earlier_decision.h"

using namespace tmm;

namespace {

const GemmProblem kProblem{.m = 16, .n = 16, .k = 16, .lda = 16, .ldb = 16, .ldc = 16};

bool is_invalidated(Outcome outcome, const char* detail) {
    return tmm::is_invalidated(kProblem, Measurement{.outcome = outcome, .detail = detail, .error_ratio = 0.5});
}

}  // namespace

TEST_CASE("a verdict on values of alpha and beta that may overflow or vanish") {
    for (const char* detail :
         {"C[0][1] = inf, expected 91226.8; 9 of 256 checked elements differ (normal values, alpha 30000, beta 0)",
          "C[0][1] = -inf, expected -1e+40; 1 of 256 checked elements differ (normal values, alpha 1, beta -1e+38)",
          "after timing: C[0][1] = 0 breaks the error bound, worst 3 times over; 5 of 256 checked elements do "
          "(normal values, alpha 1e-40, beta 1)",
          "in the run-off: C[0][1] = inf, expected 7e4; 1 of 256 checked elements differ (normal values, alpha -70, beta 0)"}) {
        CAPTURE(detail);
        CHECK(is_invalidated(Outcome::wrong_result, detail));
        CHECK(is_invalidated(Outcome::inaccurate, detail));
        CHECK_FALSE(is_invalidated(Outcome::crashed, detail));
    }
    for (const char* detail : {"C[0][1] = 4, expected 5; 9 of 256 checked elements differ (normal values, alpha 1, beta 0)",
                               "C[0][1] = 4, expected 5; 9 of 256 checked elements differ (normal values, alpha 2, beta -1)",
                               "C[0][1] = 4, expected 5; 9 of 256 checked elements differ (normal values, alpha -1.5, beta 0.5)",
                               "guard zone before C (1 elements before its first) changed (integers, alpha 4, beta 4)", ""}) {
        CAPTURE(detail);
        CHECK_FALSE(is_invalidated(Outcome::wrong_result, detail));
        CHECK_FALSE(is_invalidated(Outcome::inaccurate, detail));
    }
}

TEST_CASE("a compiler's failure that names no place in the source") {
    CHECK(is_invalidated(Outcome::compile_failed, "cc1plus: out of memory allocating 65536 bytes"));
    CHECK(is_invalidated(Outcome::compile_failed, "the compiler exited with 1"));
    CHECK(is_invalidated(Outcome::compile_failed,
                         "tmm/families/simt/kernel.cuh:1:1: fatal error: error writing to /tmp/x.s: No space left on device"));
    CHECK_FALSE(is_invalidated(Outcome::compile_failed, "tmm/families/simt/kernel.cuh:12:5: error: static assertion failed: planted"));
    CHECK_FALSE(is_invalidated(Outcome::compile_failed, "the pipeline of wgmma instructions was serialized:"));
}

TEST_CASE("a result without any error where real values were added up") {
    CHECK(tmm::is_invalidated(kProblem, Measurement{.outcome = Outcome::ok, .median_us = 3, .error_ratio = 0}));
    CHECK_FALSE(tmm::is_invalidated(kProblem, Measurement{.outcome = Outcome::ok, .median_us = 3, .error_ratio = 0.01}));
    // It was not checked, or the products may all be exact.
    CHECK_FALSE(tmm::is_invalidated(kProblem, Measurement{.outcome = Outcome::ok, .median_us = 3, .error_ratio = -1}));
    GemmProblem exact = kProblem;
    exact.k = 1;
    CHECK_FALSE(tmm::is_invalidated(exact, Measurement{.outcome = Outcome::ok, .median_us = 3, .error_ratio = 0}));
    CHECK_FALSE(tmm::is_invalidated({.m = 2, .n = 2, .k = 2}, Measurement{.outcome = Outcome::ok, .median_us = 3, .error_ratio = 0}));
}

TEST_CASE("a worker or a tuner that was ended from outside, and memory that others held") {
    CHECK(is_invalidated(Outcome::crashed, "worker was ended by signal 1 (Hangup)"));
    CHECK(is_invalidated(Outcome::crashed, "worker was ended by signal 9 (Killed)"));
    CHECK(is_invalidated(Outcome::crashed, "in the run-off: worker was ended by signal 24 (CPU time limit exceeded)"));
    CHECK(is_invalidated(Outcome::crashed, "quarantined: announced 2 times without a result"));
    CHECK(is_invalidated(Outcome::exceeds_limits, "its workspace of 4096 bytes does not fit in the device's memory"));
    CHECK(is_invalidated(Outcome::exceeds_limits, "in the run-off: its workspace does not fit in the device's memory"));
    CHECK_FALSE(is_invalidated(Outcome::crashed, "worker was ended by signal 11 (Segmentation fault)"));
    CHECK_FALSE(is_invalidated(Outcome::crashed, "worker exited with status 1"));
    CHECK_FALSE(is_invalidated(Outcome::crashed, "quarantined: the machine went down while it ran"));
    CHECK_FALSE(is_invalidated(Outcome::exceeds_limits, "its workspace of 200 bytes and C are more than the device's memory of 100"));
    CHECK_FALSE(is_invalidated(Outcome::exceeds_limits, "1024 threads of 255 registers are more than an SM's 65536"));
}
