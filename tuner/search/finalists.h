// Chooses which of the measured candidates meet in the run-off.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "db/store/measurement.h"
#include "tuner/search/candidates.h"

namespace tmm {

// Times as many finalists where the device lowered its clock.
inline constexpr std::size_t kPlacesWhereThrottled = 2;

// Indices of the fastest candidates that passed, fastest first, and of the default config, candidate 0, where it passed. results[i] belongs
// to candidates[i]; it is empty where that was not measured. Configs that share their tile hardly differ, so one tile gets half of the
// places only, if there are others. And where the device lowered its clock under the load of the fastest, times that were taken one by one
// say little: in one run-off, at one clock, tiles compare otherwise by several percent. There the places are twice as many, and one tile
// gets an eighth of them.
std::vector<std::size_t> pick_finalists(const std::vector<Candidate>& candidates, const std::vector<std::optional<Measurement>>& results,
                                        std::size_t places);

}  // namespace tmm
