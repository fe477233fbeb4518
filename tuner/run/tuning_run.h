// The parent of a tuning run: shapes in, measurements and decisions into the database, and a report of what came out.
#pragma once

#include <vector>

#include "base/processes/interrupt.h"
#include "generator/text/shapes_file.h"
#include "tuner/options/tuning_options.h"
#include "tuner/progress/progress.h"
#include "tuner/search/run_report.h"

namespace tmm {

// Throws Error: no device, no compiler, database. What was recorded until then stays.
RunReport run_tuning(const std::vector<Shape>& shapes, const TuningOptions& options, Progress& progress, const Interrupt& interrupt);

}  // namespace tmm
