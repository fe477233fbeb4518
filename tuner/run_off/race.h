// A run-off: who is sampled in each round, who is out, when it is over, and who has won.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "db/store/tuning_database.h"
#include "tmm/vocabulary/config.h"

namespace tmm {

// Runs rounds in which every config is sampled once, one after the other; they end early once total_us are used, but not before min_rounds.
// Before the first round all configs run for settle_us, or a quarter of that where the device then still keeps its clock: under a load that
// draws more power than it may the device lowers its clock, and another config may be the fastest.
struct RunOffRequest {
    std::vector<KernelConfig> configs;
    int rounds = 40;
    int min_rounds = 30;
    double sample_us = 300;
    double total_us = 4e6;
    double settle_us = 0;
    // Places of the configs in the order of the search, 0 the default config's, where they race, and by how much another may
    // be faster than the winner. Without places all are sampled in all rounds.
    std::vector<int> orders = {};
    double margin = 0;
    int search = 0;

    friend bool operator==(const RunOffRequest&, const RunOffRequest&) = default;
};

// Samples the finalists of the request round by round, each time in another order. launches: how many a sample of each takes, 0 for those
// that can't run. between_us: what passes between two launches. sample: takes one, in microseconds a launch. Returns the samples by
// finalist, one a round; those that are out have fewer.
//
// Where the request has the finalists' places in the search, they race, as in "Hoeffding Races" (Maron, Moore, 1994) and, by blocks, in "A
// Racing Algorithm for Configuring Metaheuristics" (Birattari and others, 2002). As decisions go by medians of the rounds' ratios, the test
// is the sign test, which assumes nothing of how times are distributed. A finalist is out once it is surely no tie with the fastest
// The race is over once none that is left is, surely, faster than the one that would win by more than the
// margin.
std::vector<std::vector<double>> race(const RunOffRequest& request, const std::vector<int>& launches, double between_us,
                                      const std::function<double(std::size_t)>& sample);

// The chance that an event of the given probability happens in at least `count` of `rounds` independent rounds.
double chance_of_at_least(int count, int rounds, double probability);

struct Finalist {
    KernelConfig config;
    // Place in the search order, which settles ties.
    int order = 0;
    bool is_default = false;
    // Samples in microseconds, one a round; one that was out before the last round has fewer.
    std::vector<double> samples_us;
};

struct RunOffResult {
    // The winner's place among the finalists.
    std::size_t winner = 0;
    // The record that goes into the database: the winner, its median, that of the default (0 where it did not race), the fastest of the
    // others by its median, and as the reason the sentence "beat family=… by 3.1%".
    TuningDatabase::Decision decision = {};
    // The finalists' medians, as they were compared.
    std::vector<double> medians_us = {};
};

// Median over the rounds of a's time over b's.
double paired_ratio(const std::vector<double>& a, const std::vector<double>& b);

// A finalist that is within 1% of the fastest ties with it if it was as fast in this share of the rounds. A smaller difference that nearly
// all rounds agree on counts as a difference: of 329 winners 134 stood within 1% of the fastest, some of them slower by 0.9%.
inline constexpr double kRoundsOfTie = 0.25;

// Medians and paired ratios decide; of those that tie with the fastest the first in the search order wins; a winner is never
// slower than the default. One that was out early does not win, unless it is the default; its time is compared in its own rounds. At least
// one finalist, all with at least one sample.
RunOffResult judge_run_off(const std::vector<Finalist>& finalists);

}  // namespace tmm
