// The arithmetic of a claimed speed: medians and their intervals, means over shapes, and pairs.
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "base/median.h"
#include "bench/timing/paired_timing.h"
#include "bench/timing/statistics.h"

using namespace tmm;
using namespace tmm::bench;

namespace {

std::vector<double> one_to(int n) {
    std::vector<double> values;
    for (int i = n; i >= 1; --i) values.push_back(i);
    return values;
}

}  // namespace

TEST_CASE("the median is the middle, or the mean of the middle two") {
    CHECK(median({3, 1, 2}) == 2);
    CHECK(median({4, 1, 3, 2}) == 2.5);
    CHECK(median({7}) == 7);
    CHECK(median({-1, 8}) == 3.5);
    CHECK(median({5, 5, 1, 1, 9, 1}) == 3);
    CHECK_THROWS_AS(median({}), std::invalid_argument);
}

TEST_CASE("the median's 95% interval is between the tabulated order statistics") {
    // Ranks from the binomial table: n = 30 gives 10 and 21, n = 10 gives 2 and 9, n = 6 gives 1 and 6.
    const Interval thirty = median_interval(one_to(30));
    CHECK(thirty.value == 15.5);
    CHECK(thirty.low == 10);
    CHECK(thirty.high == 21);
    const Interval ten = median_interval(one_to(10));
    CHECK(ten.low == 2);
    CHECK(ten.high == 9);
    const Interval six = median_interval(one_to(6));
    CHECK(six.low == 1);
    CHECK(six.high == 6);
    const Interval hundred = median_interval(one_to(100));
    CHECK(hundred.low == 40);
    CHECK(hundred.high == 61);
}

TEST_CASE("too few values for an interval give their whole range") {
    const Interval three = median_interval({2, 3, 1});
    CHECK(three.value == 2);
    CHECK(three.low == 1);
    CHECK(three.high == 3);
    const Interval one = median_interval({7});
    CHECK(one.low == 7);
    CHECK(one.high == 7);
}

TEST_CASE("the geometric mean takes each shape's median and holds its value between its bounds") {
    const Interval exact = geometric_mean_interval({{2, 2, 2}, {8, 8, 8}});
    CHECK(exact.value == doctest::Approx(4));
    CHECK(exact.low == doctest::Approx(4));
    CHECK(exact.high == doctest::Approx(4));

    std::vector<double> spread;
    for (int i = 0; i < 30; ++i) spread.push_back(1.0 + 0.01 * (i % 7));
    const Interval mean = geometric_mean_interval({spread, spread});
    CHECK(mean.low <= mean.value);
    CHECK(mean.value <= mean.high);
    CHECK(mean.low < mean.high);
    const Interval again = geometric_mean_interval({spread, spread});
    CHECK(again.low == mean.low);
    CHECK(again.high == mean.high);

    CHECK_THROWS_AS(geometric_mean_interval({}), std::invalid_argument);
    CHECK_THROWS_AS(geometric_mean_interval({{1, 0}}), std::invalid_argument);
}

TEST_CASE("pairs alternate their order and a peer's time is its fastest offer of the pair") {
    std::string order;
    const auto sampler = [&](char name, std::vector<double> times) {
        return [&order, name, times, next = std::size_t{0}]() mutable {
            order += name;
            return times[next++ % times.size()];
        };
    };
    const PairedSamples samples =
        time_in_pairs(sampler('t', {10, 20}), {{{sampler('a', {30, 10}), sampler('b', {20, 40})}}, {{sampler('c', {5, 50})}}}, 2);
    CHECK(order == "tabccbat");
    CHECK(samples.ours == std::vector<double>{10, 20});
    CHECK(samples.peers[0] == std::vector<double>{20, 10});
    CHECK(samples.peers[1] == std::vector<double>{5, 50});
    CHECK(fastest_per_pair(samples.peers) == std::vector<double>{5, 10});
    CHECK(ratios(samples.ours, fastest_per_pair(samples.peers)) == std::vector<double>{0.5, 0.5});
    CHECK_THROWS_AS(ratios({1, 2}, {1}), std::invalid_argument);
}

TEST_CASE("settling runs on while times fall and stops when they stay") {
    int calls = 0;
    const auto falling_to_constant = [&] {
        ++calls;
        return calls < 40 ? 100.0 - calls : 60.0;
    };
    settle({falling_to_constant}, {.least_seconds = 0, .most_seconds = 60});
    CHECK(calls >= 40);
    CHECK(calls < 60);

    int endless = 0;
    settle({[&] { return 1e9 / ++endless; }}, {.least_seconds = 0, .most_seconds = 0});
    CHECK(endless == 1);
}
