// How many samples a search takes of each candidate by itself and of the finalists next to each other, who these are, and when a search has
// looked at enough candidates.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "db/store/measurement.h"
#include "generator/choice/search_space.h"
#include "tuner/measure/timing.h"
#include "tuner/run_off/race.h"
#include "tuner/search/candidates.h"

namespace tmm {

// results: those of the search so far, by place.
TimingOptions timing_options(bool emulated, Effort effort, const std::vector<std::optional<Measurement>>& results);
// seconds: the time that the run-off may take. The request's configs and their places are left empty.
RunOffRequest run_off_request(bool emulated, Effort effort, double seconds);
// Most finalists of a run-off.
std::size_t finalist_places(bool emulated, Effort effort);

// Times as many finalists where the device lowered its clock.
inline constexpr std::size_t kPlacesWhereThrottled = 2;

// Indices of the fastest candidates that passed, fastest first, and of the default config, candidate 0, where it passed. results[i] belongs
// to candidates[i]; it is empty where that was not measured. Configs that share their tile hardly differ, so one tile gets half of the
// places only, if there are others. And where the device lowered its clock under the load of the fastest, times that were taken one by one
// say little: in one run-off, at one clock, tiles compare otherwise by several percent. There the places are twice as many, and one tile
// gets an eighth of them.
std::vector<std::size_t> pick_finalists(const std::vector<Candidate>& candidates, const std::vector<std::optional<Measurement>>& results,
                                        std::size_t places);

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
