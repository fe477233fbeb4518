// A sequence of launches recorded for replay, as everything is timed.
#pragma once

#include <memory>

#include "runtime/device/device.h"
#include "tuner/measure/settle.h"

namespace tmm {

struct Recorded {
    std::unique_ptr<Replay> replay;
    int launches = 1;
    // Microseconds per launch.
    double sample() const { return replay->run_timed() / launches; }
};

// The fastest of a few samples.
double screening_time(const Recorded& recorded);

// Launches of one sample: whole rounds of the sets, for at least sample_us at launch_us each.
int launches_for(double sample_us, double launch_us, int sets);

Sampler sampler_of(const std::shared_ptr<Recorded>& recorded);

}  // namespace tmm
