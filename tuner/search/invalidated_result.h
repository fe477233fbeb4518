// Finds results in the database that say nothing of their candidate: they depended on something that was no part of the problem.
#pragma once

#include "db/store/measurement.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// tmm 0.2 verified with the shape's own alpha and beta, whose values are no part of a problem, and took every failure of a compiler for the
// kernel's; it blamed candidates for signals from outside, for a tuner that was killed, and for memory that others held. Such a result is
// measured again.
bool is_invalidated(const GemmProblem& problem, const Measurement& measurement);

}  // namespace tmm
