// Says what a run would look at, on each device.
#pragma once

#include <vector>

#include "base/error.h"
#include "base/processes/interrupt.h"
#include "base/text/terminal.h"
#include "generator/text/shapes_file.h"
#include "tuner/options/tuning_options.h"

namespace tmm {

// Prints each problem as soon as it has been looked at, so that a long list shows its beginning at once. json: each candidate's config,
// too. Where there is no GPU the emulated device stands in, and a message on stderr says so. Where it is interrupted, what it has is
// printed as well, and the status is interrupted.
ExitStatus dry_run(const std::vector<Shape>& shapes, const TuningOptions& options, bool json, const Screen& screen,
                   const Interrupt& interrupt);

}  // namespace tmm
