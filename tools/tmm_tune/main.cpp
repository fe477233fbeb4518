// tmm-tune: measures the kernels that may serve each shape on each GPU and keeps every result.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <csignal>

#include "base/command_line/tool_main.h"
#include "base/error.h"
#include "base/text/environment.h"
#include "base/text/printable.h"
#include "base/text/terminal.h"
#include "generator/text/shape_overrides.h"
#include "runtime/api/gpu_choice.h"
#include "tools/tmm_tune/tune_tool.h"
#include "tuner/options/shard.h"
#include "tuner/run/dry_run.h"
#include "tuner/run/helper_options.h"
#include "tuner/run/report.h"
#include "tuner/run/tuning_run.h"
#include "tuner/search/candidates.h"

namespace {

using namespace tmm;

constexpr double kLeastSeconds = 0.001;
constexpr double kMostSeconds = 1e9;

// Reads all options but the devices, which may only be counted once signals are waited for.
TuningOptions options_of(const CommandLine& line) {
    TuningOptions options;
    options.effort = parse_effort(line.text("effort"));
    if (line.has("budget")) options.budget_seconds = line.number("budget", kLeastSeconds, kMostSeconds);
    if (line.has("deadline-floor")) options.deadline_floor = line.number("deadline-floor", kLeastSeconds, kMostSeconds);
    if (line.has("shard")) options.shard = parse_shard(line.text("shard"));
    options.remeasure = line.has("remeasure");
    options.database = line.has("db") ? std::filesystem::path(line.text("db")) : default_database_path();
    return options;
}

// The way in which results are printed.
struct Output {
    bool json = false;
    Screen screen;
};

Output output_of(const CommandLine& line) {
    Output output{.json = line.has("json"), .screen = screen_of(stdout)};
    output.screen.wide = line.has("wide");
    return output;
}

// An exit status of its own is explained where errors are, too: standard output may be in a file.
void say_what_lacks(const RunReport& report) {
    const std::vector<const ProblemReport*> lacking = report.without_winner();
    if (report.interrupted || lacking.empty()) return;
    const std::string others = lacking.size() > 1 ? fmt::format(", like {} more", lacking.size() - 1) : "";
    fmt::print(stderr, "tmm-tune: {} has no verified winner{}: {}\n", to_text(lacking.front()->shape), others,
               lacking.front()->decision.reason);
}

ExitStatus tune(const std::vector<Shape>& shapes, const TuningOptions& options, const Output& output, const Interrupt& interrupt) {
    // Compiling on many threads fragments the heap of each; a few arenas keep the parent small.
    mallopt(M_ARENA_MAX, 4);
    Progress progress(stderr);
    const LogBesideProgress log(progress);
    const RunReport report = run_tuning(shapes, options, progress, interrupt);
    fmt::print("{}", output.json ? json_text(report, options.database) : table_text(report, output.screen));
    if (!output.json) fmt::print("database: {}\n", printable(options.database.string()));
    say_what_lacks(report);
    // The budget is over, and compilations that nobody waits for any more can't be ended.
    if (report.still_running && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) std::_Exit(static_cast<int>(report.status()));
    return report.status();
}

// Prints the list as a shapes file. Remarks on what of it is left out have gone to standard error.
ExitStatus convert(const CommandLine& line) {
    const std::string name = line.text("shapes");
    const std::vector<Shape> shapes = read_shapes(name, parse_overrides(line.values("set")));
    fmt::print("# {} problem{} of {}, row-major\n", shapes.size(), shapes.size() == 1 ? "" : "s", printable(name));
    for (const Shape& shape : shapes) fmt::print("{}\n", to_text(shape));
    return ExitStatus::done;
}

std::vector<Shape> listed_shapes(const CommandLine& line, const Shard& shard) {
    std::vector<Shape> shapes = read_shapes(line.text("shapes"), parse_overrides(line.values("set")), Varying::allowed);
    const bool vary = std::any_of(shapes.begin(), shapes.end(), [](const Shape& shape) { return shape.varying != nullptr; });
    if (!vary && shapes_of(shard, shapes).empty())
        fmt::print(stderr, "tmm-tune: no problem is left for part {} of {}\n", shard.index, shard.count);
    return shapes;
}

ExitStatus run(const CommandLine& line) {
    if (const auto served = serve_as_helper(line)) return *served;
    if (line.has("convert")) return convert(line);
    TuningOptions options = options_of(line);
    std::signal(SIGPIPE, SIG_IGN);
    // Where SIGCHLD is ignored, nobody learns how a worker ended.
    std::signal(SIGCHLD, SIG_DFL);
    // Signals still end the process while it waits for what may be a pipe.
    const std::vector<Shape> shapes = listed_shapes(line, options.shard);
    // It is made before any thread is, and before gpu_count() lets the driver make some.
    const Interrupt interrupt;
    options.ordinals = parse_gpus(line.text("gpu"), line.tool().name);
    try {
        const Output output = output_of(line);
        return line.has("dry-run") ? dry_run(shapes, options, output.json, output.screen, interrupt)
                                   : tune(shapes, options, output, interrupt);
    } catch (const Error& error) {
        // After Ctrl-C the failure has no other cause.
        if (!interrupt.requested()) throw;
        throw Error(ExitStatus::interrupted, error.what());
    }
}

}  // namespace

int main(int argc, char** argv) {
    return tmm::tool_main(tmm::tune_tool(), argc, argv, run);
}
