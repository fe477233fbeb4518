// tmm-bench: compares the tuned library with cuBLAS, cuBLASLt, the CPU and the naive kernel, measures its accuracy, and times expressions.
#include "base/command_line/tool_main.h"
#include "base/log.h"
#include "bench/accuracy/accuracy_benchmark.h"
#include "commit_stamp.h"
#include "runtime/api/gpu_choice.h"
#include "tools/tmm_bench/bench_tool.h"
#include "tools/tmm_bench/runs.h"
#include "tools/tmm_bench/session.h"

namespace {

using namespace tmm;

ExitStatus run(const CommandLine& line) {
    bench::Arguments arguments = bench::arguments_of(line);
    if (arguments.label.empty()) arguments.label = bench::kCommit;
    // Signals still end the process while it waits for what may be a pipe.
    const std::vector<Shape> shapes = read_shapes(arguments.shapes, arguments.overrides);
    if (arguments.accuracy) bench::check_promised(shapes, arguments.shapes.string());
    // It is made before gpu_count() lets the driver make threads.
    const Interrupt interrupt;
    set_log_sink([](const std::string& message) { bench::say(message, "tmm"); });
    const int gpu = parse_gpu(arguments.gpu, line.tool().name);
    if (!arguments.expression.empty()) return bench::run_expression(arguments, shapes, gpu, interrupt);
    return (arguments.accuracy ? bench::run_accuracy : bench::run_comparison)(arguments, shapes, gpu, interrupt);
}

}  // namespace

int main(int argc, char** argv) {
    return tmm::tool_main(tmm::bench::bench_tool(), argc, argv, run);
}
