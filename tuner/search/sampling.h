// How many samples a search takes: of each candidate by itself, and of the finalists beside each other.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "db/store/measurement.h"
#include "generator/choice/search_space.h"
#include "tuner/measure/timing.h"
#include "tuner/worker/protocol.h"

namespace tmm {

// results: those of the search so far, by place.
TimingOptions timing_options(bool emulated, Effort effort, const std::vector<std::optional<Measurement>>& results);
// seconds: the time that the run-off may take. The request's configs and their places are left empty.
RunOffRequest run_off_request(bool emulated, Effort effort, double seconds);
// Most finalists of a run-off.
std::size_t finalist_places(bool emulated, Effort effort);

}  // namespace tmm
