// The three runs of tmm-bench: times beside peers, errors (--accuracy), and the times of an epilogue that the user wrote (--expression).
#pragma once

#include <vector>

#include "base/processes/interrupt.h"
#include "tools/tmm_bench/bench_tool.h"

namespace tmm::bench {

// Prints a table on stdout as it goes and writes the files that are asked for. Returns done, no_winner or interrupted.
ExitStatus run_comparison(const Arguments& arguments, const std::vector<Shape>& shapes, int gpu, const Interrupt& interrupt);

// tmm-bench --accuracy: errors instead of times.

// Prints a table on stdout as it goes and writes the files that are asked for. Returns done, no_winner or interrupted.
ExitStatus run_accuracy(const Arguments& arguments, const std::vector<Shape>& shapes, int gpu, const Interrupt& interrupt);

// tmm-bench --expression: the times of an epilogue that the user wrote.

// Prints a table on stdout as it goes and writes the file that is asked for. Returns done, no_winner or interrupted.
ExitStatus run_expression(const Arguments& arguments, const std::vector<Shape>& shapes, int gpu, const Interrupt& interrupt);

}  // namespace tmm::bench
