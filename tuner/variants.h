// What to measure once the search has its times: variants of the fastest that no prediction tells apart.
#pragma once

#include <optional>
#include <vector>

#include "db/measurement.h"
#include "tmm/config.h"
#include "tuner/candidates.h"

namespace tmm {

// The fastest of simt's candidates, where they come near the fastest of all, with the other orders of their products (tmm::fma_order).
// results: the candidates', by place. None that is a candidate already.
std::vector<KernelConfig> variants_of_fastest(const std::vector<Candidate>& candidates,
                                              const std::vector<std::optional<Measurement>>& results);

}  // namespace tmm
