// Tests which config wins a run-off: the fastest, the first of equals, and never one that is slower than the default. In its rounds the
// slower ones are out early, ties and the default's claim are left to the decision, and little is spent.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

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

struct Raced {
    std::vector<std::vector<double>> samples;
    int taken = 0;
    std::size_t rounds = 0;
    RunOffResult result;
};

// Finalists of these true times, in the order of the search, with noise of such a part; the first is the default.
Raced raced(const std::vector<double>& times, double noise, unsigned seed, double margin = 0.005, bool may_end = true) {
    RunOffRequest request{.configs = std::vector<KernelConfig>(times.size()), .rounds = 100, .min_rounds = 30, .total_us = 1e9};
    request.margin = margin;
    if (may_end)
        for (std::size_t i = 0; i < times.size(); ++i) request.orders.push_back(static_cast<int>(i));
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    Raced raced;
    raced.samples = race(request, std::vector<int>(times.size(), 1), 0, [&](std::size_t i) {
        ++raced.taken;
        return times[i] * std::exp(noise * normal(random));
    });
    std::vector<Finalist> finalists;
    for (std::size_t i = 0; i < times.size(); ++i) {
        raced.rounds = std::max(raced.rounds, raced.samples[i].size());
        finalists.push_back({.config = {.block_m = static_cast<int>(i)},
                             .order = static_cast<int>(i),
                             .is_default = i == 0,
                             .samples_us = raced.samples[i]});
    }
    raced.result = judge_run_off(finalists);
    return raced;
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

TEST_CASE("chances of a binomial distribution's upper tail") {
    CHECK(chance_of_at_least(0, 10, 0.5) == doctest::Approx(1));
    CHECK(chance_of_at_least(10, 10, 0.5) == doctest::Approx(1.0 / 1024));
    CHECK(chance_of_at_least(9, 10, 0.5) == doctest::Approx(11.0 / 1024));
    CHECK(chance_of_at_least(16, 16, 0.75) == doctest::Approx(std::pow(0.75, 16)));
    CHECK(chance_of_at_least(11, 10, 0.5) == 0);
    CHECK(chance_of_at_least(50, 100, 0.5) == doctest::Approx(0.5398).epsilon(0.001));
}

TEST_CASE("finalists that are far behind are sampled in the first rounds only, and one that is far ahead ends the race") {
    const Raced many = raced({120, 100, 110, 100.2, 130}, 0.005, 1, 0);
    CHECK(many.samples[0].size() < 15);
    CHECK(many.samples[2].size() < 15);
    CHECK(many.samples[4].size() < 15);
    CHECK(many.samples[1].size() == many.rounds);
    CHECK(many.samples[3].size() == many.rounds);
    CHECK(many.rounds > 30);
    const Raced clear = raced({120, 100, 110, 130}, 0.005, 1);
    CHECK(clear.rounds <= 10);
    CHECK(clear.result.winner == 1);
    // The times of those that are out are told in the winner's terms.
    CHECK(clear.result.decision.default_us == doctest::Approx(1.2 * clear.result.decision.median_us).epsilon(0.01));
    CHECK(clear.result.decision.runner_up == KernelConfig{.block_m = 2});
    CHECK(clear.result.decision.runner_up_us == doctest::Approx(1.1 * clear.result.decision.median_us).epsilon(0.01));
}

TEST_CASE("a race that is over early decides as all rounds would, for a fraction of the samples") {
    constexpr int kRaces = 400;
    int other = 0;
    int taken = 0;
    double loss = 0;
    for (unsigned seed = 0; seed < kRaces; ++seed) {
        std::mt19937 random(seed);
        std::vector<double> times;
        for (int i = 0; i < 8; ++i) times.push_back(100 * (1 + std::uniform_real_distribution<double>(0, 0.08)(random)));
        const double best = *std::min_element(times.begin(), times.end());
        const Raced early = raced(times, 0.01, seed);
        const Raced whole = raced(times, 0.01, seed, 0.005, false);
        CHECK(whole.taken == 800);
        taken += early.taken;
        const double time = times[early.result.winner];
        loss += time / best - 1;
        other += time > 1.005 * times[whole.result.winner];
        CHECK_MESSAGE(time < 1.02 * best, "seed " << seed);
        // A winner is never slower than the default, in the rounds that both took part in.
        CHECK_MESSAGE(paired_ratio(early.samples[0], early.samples[early.result.winner]) >= 1, "seed " << seed);
    }
    const std::string text = fmt::format("{} samples, {} others, loss {:.5f}", taken / kRaces, other, loss / kRaces);
    MESSAGE(text);
    CHECK_MESSAGE(taken < kRaces * 400, text);
    CHECK_MESSAGE(other < kRaces / 20, text);
    CHECK_MESSAGE(loss < 0.005 * kRaces, text);
}

TEST_CASE("a tie stays one: the earlier of two that are as fast is not out, and wins") {
    constexpr int kRaces = 200;
    int earlier = 0;
    for (unsigned seed = 0; seed < kRaces; ++seed) earlier += raced({130, 100.2, 100}, 0.01, seed).result.winner == 1;
    CHECK(earlier > kRaces * 9 / 10);
    int of_default = 0;
    for (unsigned seed = 0; seed < kRaces; ++seed) of_default += raced({100.2, 100, 103}, 0.01, seed).result.winner == 0;
    CHECK(of_default > kRaces * 9 / 10);
}

TEST_CASE(
    "a race without places samples all in all rounds; time ends it, but not before the least rounds; one that can't run takes no part") {
    CHECK(raced({100, 200, 300}, 0.001, 1, 0, false).taken == 300);
    RunOffRequest request{.configs = std::vector<KernelConfig>(3), .rounds = 50, .min_rounds = 7, .total_us = 1};
    const auto sample = [](std::size_t) { return 1.0; };
    CHECK(race(request, {1, 1, 1}, 0, sample)[2].size() == 7);
    request.total_us = 300;
    const auto samples = race(request, {10, 0, 5}, 0, sample);
    CHECK(samples[0].size() == 20);
    CHECK(samples[1].empty());
    CHECK(samples[2].size() == 20);
    request.orders = {0, 1, 2};
    CHECK(race(request, {0, 0, 0}, 0, sample)[0].empty());
    CHECK(race(request, {0, 1, 0}, 0, sample)[1].size() <= 10);
}

TEST_CASE("samples of a candidate end once it is surely no finalist, or surely one") {
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    const auto taken = [&](double time, double noise, double bar, double precision = 0) {
        const TimingOptions options{.samples = 15, .total_us = 1e9, .bar_us = bar, .precision = precision};
        return take_samples(options, 1, 0, [&] { return time * std::exp(noise * normal(random)); }).size();
    };
    CHECK(taken(130, 0.001, 100) == 2);
    CHECK(taken(70, 0.001, 100) == 2);
    CHECK(taken(103, 0.001, 100) <= 4);
    CHECK(taken(100, 0.01, 100) > 8);
    CHECK(taken(130, 0.001, 0) == 15);
    CHECK(taken(130, 0.001, 0, 0.01) <= 5);
    CHECK(taken(130, 0.05, 0, 0.01) == 15);
    int wrong = 0;
    constexpr int kCandidates = 2000;
    for (int i = 0; i < kCandidates; ++i) {
        const TimingOptions options{.samples = 7, .total_us = 1e9, .bar_us = 100};
        const auto samples = take_samples(options, 1, 0, [&] { return 97 * std::exp(0.02 * normal(random)); });
        wrong += samples.size() < 7 && quantile(samples, 0.5) > 100;
    }
    // Each of six looks is wrong once in a hundred at most.
    CHECK(wrong < kCandidates * 6 / 100);
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
