// When a search has looked at enough candidates.
#pragma once

#include "generator/choice/search_space.h"

namespace tmm {

// A search ends when the chance that any candidate which is left is faster than the best so far by more than the margin is predicted to be
// below `chance`, or, without a budget, once it has taken so long and has so many results.
struct Certainty {
    double margin = 0;
    double chance = 0;
    // Times that must be known before chances count: how far off predictions are is told by few of them too well.
    int least_observations = 0;
    // Seconds that a problem may take, its run-off included; 0 stands for no end.
    double seconds = 0;
    int least_results = 0;
};

Certainty certainty_of(Effort effort);

// The results that a search has at least before its seconds end it. Other sizes are judged by those of a sample size, which has more.
int least_results(const Certainty& certainty, bool is_sample_size);

// The part of an effort's seconds that a search may take. Variants of the fastest and the run-off have the rest.
inline constexpr double kSearchPart = 0.7;

}  // namespace tmm
