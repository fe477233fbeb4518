// A problem that a run has to look at.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/store/tuning_database.h"
#include "generator/compile/kernel_book.h"
#include "generator/text/shapes_file.h"
#include "tuner/options/tuning_options.h"
#include "tuner/search/candidates.h"
#include "tuner/search/phase.h"

namespace tmm {

// Its candidates are made when its turn is near.
struct PendingProblem {
    Shape shape;
    // Place of the problem among the report's problems.
    std::size_t place = 0;
    // An earlier run's decision.
    std::optional<TuningDatabase::Decision> earlier = {};
    Phase phase = Phase::search;
    std::vector<Candidate> candidates = {};
    // Variants that the search will end with if the candidates are as fast as they are ordered; none where it will not end with any.
    std::vector<Candidate> likely_variants = {};
    // Whether a thread is making the candidates, which has the problem for itself.
    bool being_made = false;
    // Number of configs behind the default, which leads, that are known to be fast.
    std::size_t known_fast = 0;
    std::string search_hash = {};
    // Number of configs that the search rejected, by reason.
    std::map<std::string, int> rejections = {};
    // Further candidates that the search has, for which a small budget has no time.
    std::size_t left_out = 0;
};

// The candidates' newest measurements with today's kernels, by place in `candidates`.
std::vector<std::optional<Measurement>> known_measurements(TuningDatabase& database, const GemmProblem& problem,
                                                           const std::vector<Candidate>& candidates);

// Makes the candidates of a problem whose turn is near, unless the problem has them: those of a search, or, where it races, its old winner
// and the first guesses.
void prepare_candidates(PendingProblem& problem, const Turn& turn, const TuningOptions& options, const DeviceInfo& device, KernelBook& book,
                        TuningDatabase& database);

}  // namespace tmm
