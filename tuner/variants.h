// What to measure once the search has its times: variants of the fastest that no prediction tells apart.
#pragma once

#include <optional>
#include <vector>

#include "db/measurement.h"
#include "tmm/config.h"
#include "tmm/problem.h"
#include "tuner/candidates.h"

namespace tmm {

// The fastest candidates that come near the fastest of all: of simt with the other orders of their products (tmm::fma_order), of wgmma,
// where rows are missing, with the other boundary mode. results: the candidates', by place. None that has a result already; candidates that
// the budget ended before may be among them.
std::vector<KernelConfig> variants_of_fastest(const GemmProblem& problem, const std::vector<Candidate>& candidates,
                                              const std::vector<std::optional<Measurement>>& results);
// May there be some, whichever are the fastest?
bool may_have_variants(const GemmProblem& problem, const std::vector<Candidate>& candidates);

}  // namespace tmm
