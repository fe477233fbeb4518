// Tests which config wins a run-off: the fastest, the first of equals, and never one that is slower than the default.
#include <doctest/doctest.h>

#include "generator/compile/compile_attempts.h"
#include "tuner/compiling/candidate_compiler.h"
#include "tuner/measure/timing.h"
#include "tuner/progress/progress.h"
#include "tuner/run_off/race.h"
#include "tuner/search/candidates.h"
#include "tuner/search/run_report.h"

using namespace tmm;

namespace {

Finalist finalist(int order, std::vector<double> samples, bool is_default = false) {
    return Finalist{.config = KernelConfig{.family = family::tiled, .block_m = 4 + order},
                    .order = order,
                    .is_default = is_default,
                    .samples_us = std::move(samples)};
}

}  // namespace

TEST_CASE("the fastest wins and the verdict names whom it beat and by how much") {
    const RunOffResult result = judge_run_off({finalist(0, {20, 20, 20}, true), finalist(1, {10, 10, 10}), finalist(2, {11, 11, 11})});
    CHECK(result.winner == 1);
    CHECK(result.decision.median_us == 10);
    CHECK(result.decision.default_us / result.decision.median_us == doctest::Approx(2));
    CHECK(result.decision.runner_up == finalist(2, {}).config);
    CHECK(result.decision.runner_up_us == 11);
    CHECK(result.decision.reason == "beat tiled 6x1x1 by 10.0%");
}

TEST_CASE("of two that win rounds in turn, within one per cent, the search order decides") {
    const RunOffResult result = judge_run_off(
        {finalist(3, {10.00, 10.02, 9.98, 10.00}), finalist(1, {10.09, 10.01, 10.07, 9.99}), finalist(0, {10.2, 10.2, 10.2, 10.2}, true)});
    CHECK(result.winner == 1);
    CHECK(result.decision.reason == "as fast as tiled 7x1x1 within what the rounds tell, and before it in the search order");
    CHECK(result.decision.default_us == 10.2);
}

TEST_CASE("what is slower in every round loses, however little") {
    const RunOffResult result = judge_run_off({finalist(3, {10.00, 20.00, 10.00}), finalist(1, {10.05, 20.10, 10.05})});
    CHECK(result.winner == 0);
    CHECK(result.decision.reason == "beat tiled 5x1x1 by 0.5%");
}

TEST_CASE("more than one per cent is no tie, whoever wins some rounds") {
    const RunOffResult result = judge_run_off({finalist(3, {10.0, 10.0, 10.0, 10.3}), finalist(1, {10.2, 10.2, 10.2, 10.2})});
    CHECK(result.winner == 0);
}

TEST_CASE("a default that is as fast as any other wins") {
    const RunOffResult result = judge_run_off({finalist(4, {10, 10, 10, 10}), finalist(0, {10.05, 10, 10, 10.05}, true)});
    CHECK(result.winner == 1);
    CHECK(result.decision.default_us == result.decision.median_us);
}

TEST_CASE("a winner is never slower than the default, round by round") {
    // By its median the other is faster; in most rounds the default was.
    const RunOffResult result = judge_run_off({finalist(0, {10, 12, 30, 31, 32}, true), finalist(1, {11, 13, 14, 32, 33})});
    CHECK(result.winner == 0);
    CHECK(result.decision.default_us == result.decision.median_us);
}

TEST_CASE("a tie is no reason to take one that is slower than the default by its median") {
    // The second ties with the first and stands before it; the default, slower than the first in every round, stands between them.
    const RunOffResult result = judge_run_off({finalist(3, {10.00, 10.02, 10.00, 10.02}), finalist(1, {9.99, 10.09, 10.09, 10.09}),
                                               finalist(0, {10.05, 10.06, 10.05, 10.06}, true)});
    CHECK(result.winner == 0);
    CHECK(result.decision.default_us > result.decision.median_us);
}

TEST_CASE("a disturbance that hits one round of all does not decide") {
    const RunOffResult result = judge_run_off({finalist(0, {20, 900, 20}, true), finalist(1, {10, 450, 10})});
    CHECK(result.winner == 1);
    CHECK(result.decision.default_us / result.decision.median_us == doctest::Approx(2));
}

TEST_CASE("quantiles interpolate") {
    CHECK(quantile({}, 0.5) == 0);
    CHECK(quantile({3}, 0.9) == 3);
    CHECK(quantile({4, 1, 3, 2}, 0.5) == doctest::Approx(2.5));
    CHECK(quantile({0, 10}, 0.1) == doctest::Approx(1));
}

TEST_CASE("a tally names what failed") {
    CHECK(tally(212, {{Outcome::spills, 2}, {Outcome::wrong_result, 1}}) == "212 candidates measured, 3 failed: 2 spills, 1 wrong_result");
    CHECK(tally(5, {}) == "5 candidates measured, 0 failed");
}

TEST_CASE("a search hash names effort, configs and kernels") {
    Candidate a;
    a.config = KernelConfig{.family = family::naive, .block_m = 8};
    a.kernel_hash = "0123";
    Candidate b = a;
    b.kernel_hash = "0124";
    const std::string hash = search_hash(Effort::normal, {a});
    CHECK(hash.starts_with("normal:"));
    CHECK(hash == search_hash(Effort::normal, {a}));
    CHECK(hash != search_hash(Effort::normal, {b}));
    CHECK(hash != search_hash(Effort::normal, {a, b}));
    CHECK(effort_of(hash) == Effort::normal);
    CHECK(effort_of("full:1") == Effort::full);
    CHECK_FALSE(effort_of("x").has_value());
}

TEST_CASE("of a compiler's log the first error is kept") {
    CHECK(first_error_line("note: an error\n\nk.cu(3): error: no such thing\nerror: two\n") == "k.cu(3): error: no such thing");
    CHECK(first_error_line("\n  something else\n") == "  something else");
    CHECK(first_error_line("") == "the compiler gave no reason");
}

TEST_CASE("durations read as people say them") {
    CHECK(duration_text(0.25) == "250 ms");
    CHECK(duration_text(12.2) == "12 s");
    CHECK(duration_text(200) == "3 min 20 s");
    CHECK(duration_text(3900) == "1 h 5 min");
}
