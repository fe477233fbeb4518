// Makes the configs to measure once the search has its times: variants of the fastest that no prediction tells apart.
#pragma once

#include <optional>
#include <vector>

#include "db/store/measurement.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"
#include "tuner/search/candidates.h"

namespace tmm {

// Variants of those candidates that come near the fastest of all: simt configs with the other orders of their products (tmm::fma_order),
// and wgmma configs, where rows are missing, with the other boundary mode. results: the candidates' results, by place. No config that has a
// result already is among them; candidates that the budget ended before may be.
std::vector<KernelConfig> variants_of_fastest(const GemmProblem& problem, const std::vector<Candidate>& candidates,
                                              const std::vector<std::optional<Measurement>>& results);
// The same where the candidates turn out as fast as they are ordered, the first the fastest.
std::vector<KernelConfig> variants_of_first(const GemmProblem& problem, const std::vector<Candidate>& candidates);
// Whether there may be variants, whichever candidates are the fastest.
bool may_have_variants(const GemmProblem& problem, const std::vector<Candidate>& candidates);

}  // namespace tmm
