// tmm-bench --accuracy: errors instead of times.
#pragma once

#include <vector>

#include "base/processes/interrupt.h"
#include "tools/tmm_bench/bench_tool.h"

namespace tmm::bench {

// Prints a table on stdout as it goes and writes the files that are asked for. Returns done, no_winner or interrupted.
ExitStatus run_accuracy(const Arguments& arguments, const std::vector<Shape>& shapes, int gpu, const Interrupt& interrupt);

}  // namespace tmm::bench
