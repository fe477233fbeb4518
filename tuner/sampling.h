// How many samples a search takes: of each candidate by itself, and of the finalists beside each other.
#pragma once

#include <cstddef>

#include "generator/search/search_space.h"
#include "tuner/protocol.h"
#include "tuner/timing.h"

namespace tmm {

// best_us: the fastest time so far; 0 where there is none.
TimingOptions timing_options(bool emulated, Effort effort, double best_us);
// seconds: the time that the run-off may take. The request's configs are left empty.
RunOffRequest run_off_request(bool emulated, Effort effort, double seconds);
// Most finalists of a run-off.
std::size_t finalist_places(bool emulated, Effort effort);

}  // namespace tmm
