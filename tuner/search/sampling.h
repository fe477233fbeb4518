// How many samples a search takes: of each candidate by itself, and of the finalists beside each other.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "db/store/measurement.h"
#include "generator/choice/search_space.h"
#include "tuner/measure/timing.h"
#include "tuner/worker/protocol.h"

namespace tmm {

// results: those of the search so far, by place.
TimingOptions timing_options(bool emulated, Effort effort, const std::vector<std::optional<Measurement>>& results);
// seconds: the time that the run-off may take. The request's configs and their places are left empty.
RunOffRequest run_off_request(bool emulated, Effort effort, double seconds);
// Most finalists of a run-off.
std::size_t finalist_places(bool emulated, Effort effort);

// When a search has looked at enough candidates.

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
