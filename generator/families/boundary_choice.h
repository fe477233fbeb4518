// How a winner of other sizes meets the edges of a problem's matrices.
#pragma once

#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// The winner of one problem as it serves another (Product::adapt): where its tiles divide no other sizes than its own, it looks for edges.
KernelConfig with_edges_where_needed(const GemmProblem& problem, const GemmProblem& tuned, const KernelConfig& config);

}  // namespace tmm
