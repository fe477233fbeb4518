// Chooses the candidates that a quick search measures where the database has times of them: kernels whose text has changed since are likely
// to rank as they did.
#pragma once

#include <cstddef>
#include <vector>

#include "db/store/tuning_database.h"
#include "tuner/search/candidates.h"

namespace tmm {

// Returns as many candidates as `predicted` has: its first, which is the default config, and the fastest of `all` in `rows`; where these
// are too few, the foremost of `predicted` follow. The candidates of `predicted` stand first. A candidate's time is that of its newest row
// with an earlier text of its kernels, so that the choice stays the same while those of today are measured, else that of its newest row.
// Rows that are not ok are no times; those of a config with the other overlap count where there are none of its own.
std::vector<Candidate> fastest_measured(const std::vector<Candidate>& predicted, const std::vector<Candidate>& all,
                                        const std::vector<MeasuredCandidate>& rows);

}  // namespace tmm
