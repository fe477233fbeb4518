// The order of the candidates that are still to be measured, once some have been.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "db/measurement.h"
#include "tuner/candidates.h"

namespace tmm {

// Predictions of different families compare badly: the measured times of a family's candidates say by how much its predictions are off.
// Where the predictions of two families are off by such different factors that the order may be wrong, merges `places` anew, each family's
// in the order that they have, by the predictions times the ratio of measured to predicted time of the family's measured candidates (the
// median; a family that has none is believed), and returns true. estimates: predicted times in µs; they and the results are by place among
// the candidates.
bool correct_order(std::vector<std::size_t>& places, const std::vector<Candidate>& candidates, const std::vector<double>& estimates,
                   const std::vector<std::optional<Measurement>>& results);

}  // namespace tmm
