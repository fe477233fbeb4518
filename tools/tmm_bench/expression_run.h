// tmm-bench --expression: the times of an epilogue that the user wrote.
#pragma once

#include <vector>

#include "base/processes/interrupt.h"
#include "tools/tmm_bench/bench_tool.h"

namespace tmm::bench {

// Prints a table on stdout as it goes and writes the file that is asked for. Returns done, no_winner or interrupted.
ExitStatus run_expression(const Arguments& arguments, const std::vector<Shape>& shapes, int gpu, const Interrupt& interrupt);

}  // namespace tmm::bench
