// Configs that are known to be fast for a problem by what was measured before, whatever a search offers today.
#pragma once

#include <cstddef>
#include <vector>

#include "db/store/tuning_database.h"
#include "generator/machine/device_info.h"
#include "tuner/search/candidates.h"

namespace tmm {

// The problem and, where its types have 16 bits, the same problem with the other 16-bit type: kernels take nearly enough the same time for
// both to say which are worth measuring.
std::vector<GemmProblem> problems_alike(const GemmProblem& problem);

// The configs that serve the problem: `winners`, a few of the fastest that were measured, and the winners that ship with tmm, with either
// 16-bit type: those of the device's model first, then those of other models of its compute capability. rows: the problem's measurements,
// the newest first, as TuningDatabase::measurements gives them.
std::vector<KernelConfig> warm_start_configs(const GemmProblem& problem, const std::vector<KernelConfig>& winners,
                                             const std::vector<MeasuredCandidate>& rows, const DeviceInfo& device);

// Puts the configs behind the first candidate, which is the default: the configs that a search offers change with tmm, a budget may end it
// early, and a winner must not be lost by that. Returns how many candidates they are.
std::size_t put_first(const std::vector<KernelConfig>& configs, std::vector<Candidate>& candidates, const GemmProblem& problem,
                      const DeviceInfo& device, KernelBook& book);

// Chooses the candidates that a quick search measures where the database has times of them: kernels whose text has changed since are likely
// to rank as they did.
// Returns as many candidates as `predicted` has: its first, which is the default config, and the fastest of `all` in `rows`; where these
// are too few, the foremost of `predicted` follow. The candidates of `predicted` stand first. A candidate's time is that of its newest row
// with an earlier text of its kernels, so that the choice stays the same while those of today are measured, else that of its newest row.
// Rows that are not ok are no times; those of a config with the other overlap count where there are none of its own.
std::vector<Candidate> fastest_measured(const std::vector<Candidate>& predicted, const std::vector<Candidate>& all,
                                        const std::vector<MeasuredCandidate>& rows);

}  // namespace tmm
