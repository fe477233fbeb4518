// How a config meets the edges of a problem's matrices.
#pragma once

#include <cstdint>

#include "generator/plan/launch_plan.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// Are a part's rows and columns, and k, whole tiles?
bool divides(const Extent& part, std::int64_t k, int block_m, int block_n, int block_k);

// The winner of one problem as it serves another (Product::adapt): where its tiles divide no other sizes than its own, it looks for edges.
KernelConfig with_edges_where_needed(const GemmProblem& problem, const GemmProblem& tuned, const KernelConfig& config);

}  // namespace tmm
