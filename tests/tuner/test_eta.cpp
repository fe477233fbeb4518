// The time that a run is said to have left, while its problems tell how long they take.
#include <doctest/doctest.h>

#include "tuner/progress/progress.h"

using namespace tmm;

namespace {

constexpr Pace kNormal{.problem_seconds = 5, .least_results = 32};

// Problems of so many seconds, of each of which `done` of 512 candidates are measured.
double finish(Eta& left, int problems, double seconds, double now = 0) {
    for (int i = 0; i < problems; ++i) {
        left.begin_problem(0, now);
        left.update(0, 0, 512);
        left.update(0, 76, 512);
        left.end_problem(0, now += seconds);
    }
    return now;
}

}  // namespace

TEST_CASE("before the first problem is done each takes its effort's seconds at most") {
    Eta left(200, kNormal);
    CHECK_FALSE(left.expected(0).seconds);
    left.begin_problem(0, 0);
    CHECK(*left.expected(0).seconds == 200 * 5);
    left.update(0, 0, 512);
    left.update(0, 20, 512);
    // All 512 would take 25.6 s.
    CHECK(*left.expected(1).seconds == 199 * 5 + 4);
    CHECK(left.expected(1).share == doctest::Approx(1 / 5.0 / 200));
    // All 512 take less.
    left.update(0, 256, 512);
    CHECK(*left.expected(1).seconds == doctest::Approx(199 * 2 + 1));
}

TEST_CASE("candidates so slow that few fit into an effort's seconds are measured all the same") {
    Eta left(1, kNormal);
    left.begin_problem(0, 0);
    left.update(0, 0, 512);
    left.update(0, 8, 512);
    CHECK(*left.expected(4).seconds == 12);
}

TEST_CASE("what problems took is what the others are expected to take") {
    Eta left(100, kNormal);
    const double now = finish(left, 10, 2);
    CHECK(left.problems_done() == 10);
    left.begin_problem(0, now);
    left.update(0, 0, 512);
    CHECK(*left.expected(now).seconds == doctest::Approx(90 * 2));
    left.update(0, 40, 512);
    CHECK(*left.expected(now + 1).seconds == doctest::Approx(89 * 2 + 1));
    CHECK(left.expected(now + 1).share == doctest::Approx(0.105));
    // One that takes longer than the others may take as long as it is allowed to.
    CHECK(*left.expected(now + 3).seconds == doctest::Approx(89 * 2 + 2));
    CHECK(*left.expected(now + 6).seconds >= 89 * 2);
    CHECK(left.expected(now + 6).share <= 0.11);
    left.add_problem();
    CHECK(*left.expected(now + 1).seconds == doctest::Approx(90 * 2 + 1));
}

TEST_CASE("workers share what is left, which takes no less than what one of them is at") {
    Eta left(9, kNormal);
    for (const int worker : {0, 1}) left.begin_problem(worker, 0);
    CHECK(*left.expected(0).seconds == doctest::Approx(9 * 5 / 2.0));
    left.end_problem(0, 4);
    left.end_problem(1, 4);
    for (const int worker : {0, 1}) left.begin_problem(worker, 4);
    CHECK(*left.expected(4).seconds == doctest::Approx(7 * 4 / 2.0));

    Eta last(2, {});
    for (const int worker : {0, 1}) {
        last.begin_problem(worker, 0);
        last.update(worker, 0, 10);
    }
    last.update(0, 9, 10);
    last.update(1, 1, 10);
    CHECK(*last.expected(9).seconds == doctest::Approx(81));
}

TEST_CASE("without an end of their own problems tell by their candidates, and those that an earlier run measured took no time") {
    Eta left(4, {});
    left.begin_problem(0, 0);
    left.update(0, 50, 100);
    CHECK_FALSE(left.expected(1).seconds);
    CHECK(left.expected(1).share == 0);
    left.update(0, 60, 100);
    CHECK(*left.expected(10).seconds == doctest::Approx(40 + 3 * 50));
}

TEST_CASE("a budget bounds what is left, and a turn without a result counts for nothing") {
    Eta left(1000, {.budget_seconds = 60});
    CHECK(*left.expected(10).seconds == 50);
    CHECK(*left.expected(70).seconds == 0);
    left.begin_problem(0, 0);
    left.update(0, 0, 512);
    left.leave_problem(0);
    CHECK(left.problems_done() == 0);
    CHECK(left.expected(5).share == 0);
    const double now = finish(left, 1000, 0.01, 1);
    CHECK(left.expected(now).share == 1);
    CHECK(*left.expected(now).seconds == 0);
}
