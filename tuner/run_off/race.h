// The rounds of a run-off: who is sampled in each, who is out, and when it is over.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

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
// that can't run. sample: takes one, in microseconds a launch. Returns the samples by finalist, one a round; those that are out have fewer.
//
// Where the request has the finalists' places in the search, they race, as in "Hoeffding Races" (Maron, Moore, 1994) and, by blocks, in "A
// Racing Algorithm for Configuring Metaheuristics" (Birattari and others, 2002). As decisions go by medians of the rounds' ratios, the test
// is the sign test, which assumes nothing of how times are distributed. A finalist is out once it is surely no tie with the fastest
// (tuner/run_off/decision.h). The race is over once none that is left is, surely, faster than the one that would win by more than the
// margin.
std::vector<std::vector<double>> race(const RunOffRequest& request, const std::vector<int>& launches,
                                      const std::function<double(std::size_t)>& sample);

// The chance that an event of the given probability happens in at least `count` of `rounds` independent rounds.
double chance_of_at_least(int count, int rounds, double probability);

}  // namespace tmm
