#include "tools/tmm_bench/comparison_run.h"

#include <fmt/format.h>

#include <iostream>
#include <optional>
#include <set>
#include <utility>

#include "bench/comparison/shape_benchmark.h"
#include "bench/report/report.h"
#include "bench/report/result_file.h"
#include "tools/tmm_bench/session.h"

namespace tmm::bench {

ExitStatus run_comparison(const Arguments& arguments, const std::vector<Shape>& shapes, int gpu, const Interrupt& interrupt) {
    Session session(arguments, gpu);
    RunInfo& info = session.info;
    const bool emulated = info.device.emulated;

    BenchmarkOptions benchmark_options;
    benchmark_options.pairs = arguments.pairs;
    benchmark_options.settle.least_seconds = emulated ? 0 : arguments.settle_seconds;
    benchmark_options.settle.most_seconds = emulated ? 0 : std::max(4 * arguments.settle_seconds, 0.1);
    ShapeBenchmark benchmark(session.device, session.context, *session.tuned, session.peers, benchmark_options);

    std::optional<CeilingSweep> sweep;
    if (arguments.roofline) {
        say("measuring the device's ceilings");
        std::set<Unit> arithmetics;
        for (const Shape& shape : shapes) arithmetics.insert(unit_of(shape.problem));
        sweep.emplace(session.device, arithmetics,
                      CeilingOptions{.settle = benchmark_options.settle, .sample_us = benchmark_options.sample_us});
        info.ceilings = benchmark.measure_ceilings(*sweep);
    }

    std::vector<ShapeResult> results;
    const auto write_files = [&] {
        if (!arguments.csv.empty()) write_file(arguments.csv, csv(info, results));
        if (!arguments.json.empty()) write_file(arguments.json, json(info, results));
    };
    // A file that can't be written is better known before the first shape is timed.
    write_files();

    say(fmt::format("{} shape{} on {}, {} pairs each", shapes.size(), shapes.size() == 1 ? "" : "s", info.device.name, arguments.pairs));
    if (!emulated && arguments.pairs < 30) say("fewer than 30 pairs: good for a look, not for a claim");
    Screen screen = screen_of(stdout);
    screen.wide = arguments.wide;
    Table table(std::cout, shapes, info, screen);
    StatusLine status(stderr);
    bool all_good = true;
    bool throttled = false;
    for (const Shape& shape : shapes) {
        if (interrupt.requested()) break;
        show_progress(status, results.size(), shapes);
        results.push_back(on_device(shape.problem, [&] { return benchmark.run(shape); }));
        status.clear();
        const ShapeResult& result = results.back();
        if (result.throttled && !std::exchange(throttled, true)) say(fmt::format("{}: {}", to_text(shape.problem), throttling_warning()));
        table.row(result);
        for (const PeerResult& peer : result.peers)
            if (!peer.skipped.empty()) say(fmt::format("{}: {} skipped: {}", to_text(shape.problem), peer.name, peer.skipped));
        all_good = all_good && result.failure.empty() && !result.check.wrong();
        // The files are written after every shape, so that a run that is cut short leaves what it has.
        write_files();
    }
    print_means(std::cout, results, screen);
    print_roofline(std::cout, info, results, screen);
    if (interrupt.requested()) return ExitStatus::interrupted;
    return all_good ? ExitStatus::done : ExitStatus::no_winner;
}

}  // namespace tmm::bench
