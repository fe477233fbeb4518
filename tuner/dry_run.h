// Lists what a run would look at, on each device.
#pragma once

#include <vector>

#include "tuner/interrupt.h"
#include "tuner/report.h"
#include "tuner/tuning_options.h"

namespace tmm {

// with_configs: each candidate is given as text, too. Where there is no GPU the emulated device stands in, and a message on stderr says so.
// The dry run ends early, with what it has, where it is interrupted.
std::vector<DryRun> dry_run(const std::vector<Shape>& shapes, const TuningOptions& options, bool with_configs, const Interrupt& interrupt);

}  // namespace tmm
