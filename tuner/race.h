// The rounds of a run-off: who is sampled in each, who is out, and when it is over.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tuner/protocol.h"

namespace tmm {

// Samples the finalists of the request round by round, each time in another order. launches: how many a sample of each takes, 0 for those
// that can't run. sample: takes one, in microseconds a launch. Returns the samples by finalist, one a round; those that are out have fewer.
//
// Where the request has the finalists' places in the search, they race, as in "Hoeffding Races" (Maron, Moore, 1994) and, by blocks, in "A
// Racing Algorithm for Configuring Metaheuristics" (Birattari and others, 2002). As decisions go by medians of the rounds' ratios, the test
// is the sign test, which assumes nothing of how times are distributed. A finalist is out once it is surely no tie with the fastest
// (tuner/decision.h). The race is over once none that is left is, surely, faster than the one that would win by more than the margin.
std::vector<std::vector<double>> race(const RunOffRequest& request, const std::vector<int>& launches,
                                      const std::function<double(std::size_t)>& sample);

// The chance that an event of the given probability happens in at least `count` of `rounds` independent rounds.
double chance_of_at_least(int count, int rounds, double probability);

}  // namespace tmm
