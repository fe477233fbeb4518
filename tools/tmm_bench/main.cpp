// tmm-bench: compares the tuned library with cuBLAS, cuBLASLt, the CPU and the naive kernel, measures its accuracy, and times expressions.
#include <csignal>

#include "base/command_line/tool_main.h"
#include "base/log.h"
#include "bench/accuracy/accuracy_benchmark.h"
#include "bench/recording/time_recorder.h"
#include "commit_stamp.h"
#include "generator/text/shape_overrides.h"
#include "runtime/api/gpu_choice.h"
#include "tools/tmm_bench/bench_tool.h"
#include "tools/tmm_bench/runs.h"
#include "tools/tmm_bench/session.h"
#include "tuner/run/helper_options.h"

namespace {

using namespace tmm;

constexpr double kLeastSeconds = 0.001;
constexpr double kMostSeconds = 1e9;

ExitStatus record(const CommandLine& line) {
    bench::RecordingOptions options{.ordinals = {}, .file = line.text("record")};
    if (line.has("budget")) options.budget_seconds = line.number("budget", kLeastSeconds, kMostSeconds);
    if (line.has("shard")) options.shard = parse_shard(line.text("shard"));
    std::signal(SIGPIPE, SIG_IGN);
    // Where SIGCHLD is ignored, nobody learns how a worker ended.
    std::signal(SIGCHLD, SIG_DFL);
    const std::vector<Shape> shapes = read_shapes(line.text("shapes"), parse_overrides(line.values("set")), Varying::allowed);
    // It is made before any thread is, and before gpu_count() lets the driver make some.
    const Interrupt interrupt;
    options.ordinals = parse_gpus(line.text("gpu"), line.tool().name);
    Progress progress(stderr);
    const LogBesideProgress log(progress);
    try {
        return bench::record_times(shapes, options, progress, interrupt);
    } catch (const Error& error) {
        // After Ctrl-C the failure has no other cause.
        if (!interrupt.requested()) throw;
        throw Error(ExitStatus::interrupted, error.what());
    }
}

ExitStatus run(const CommandLine& line) {
    if (const auto served = serve_as_helper(line)) return *served;
    if (line.has("record")) return record(line);
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
