// The order of the candidates that are still to be measured, once some have been.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "db/measurement.h"
#include "tuner/candidates.h"

namespace tmm {

// Predictions of different families compare badly: what candidates took says by how much their family's are off. Where two families' are so
// differently off that the order may be wrong, merges `places` anew, each family's in the order that they have, by the predictions times
// what the family's measured candidates took of theirs (the median; a family that has none is believed), and returns true. estimates: µs
// that are predicted; they and the results by place among the candidates.
bool correct_order(std::vector<std::size_t>& places, const std::vector<Candidate>& candidates, const std::vector<double>& estimates,
                   const std::vector<std::optional<Measurement>>& results);

}  // namespace tmm
