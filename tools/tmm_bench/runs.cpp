#include "tools/tmm_bench/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "bench/accuracy/accuracy_benchmark.h"
#include "bench/comparison/expression_benchmark.h"
#include "bench/comparison/shape_benchmark.h"
#include "bench/report/accuracy_report.h"
#include "bench/report/expression_report.h"
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

ExitStatus run_accuracy(const Arguments& arguments, const std::vector<Shape>& shapes, int gpu, const Interrupt& interrupt) {
    Session session(arguments, gpu);
    AccuracyBenchmark benchmark(session.device, session.context.stream(), *session.tuned,
                                session.peers.empty() ? nullptr : session.peers.front().get());
    std::vector<ShapeAccuracy> results;
    const auto write_files = [&] {
        if (!arguments.csv.empty()) write_file(arguments.csv, accuracy_csv(session.info, results));
        if (!arguments.json.empty()) write_file(arguments.json, accuracy_json(session.info, results));
    };
    write_files();

    AccuracyTable table(std::cout, shapes, session.info, screen_of(stdout));
    StatusLine status(stderr);
    bool all_good = true;
    for (const Shape& shape : shapes) {
        if (interrupt.requested()) break;
        const auto family_done = [&](const ShapeAccuracy& result) {
            status.clear();
            table.row(result);
            show_progress(status, results.size(), shapes);
            return !interrupt.requested();
        };
        show_progress(status, results.size(), shapes);
        results.push_back(on_device(shape.problem, [&] { return benchmark.run(shape.problem, family_done); }));
        status.clear();
        const ShapeAccuracy& result = results.back();
        table.end(result);
        if (!result.cublas_skipped.empty()) say(fmt::format("{}: cublas skipped: {}", to_text(shape.problem), result.cublas_skipped));
        all_good = all_good && result.holds();
        write_files();
    }
    print_verdicts(std::cout, results);
    if (interrupt.requested()) return ExitStatus::interrupted;
    return all_good ? ExitStatus::done : ExitStatus::no_winner;
}

namespace {

BenchmarkOptions options_of(const Arguments& arguments, bool emulated) {
    BenchmarkOptions options;
    options.pairs = arguments.pairs;
    options.settle.least_seconds = emulated ? 0 : arguments.settle_seconds;
    options.settle.most_seconds = emulated ? 0 : std::max(4 * arguments.settle_seconds, 0.1);
    return options;
}

}  // namespace

ExitStatus run_expression(const Arguments& arguments, const std::vector<Shape>& given, int gpu, const Interrupt& interrupt) {
    std::vector<Shape> shapes;
    std::transform(given.begin(), given.end(), std::back_inserter(shapes),
                   [&](const Shape& shape) { return with_expression(shape, arguments.shapes.string()); });
    Session session(arguments, gpu);
    session.tuned->allow_tuning();
    ExpressionBenchmark benchmark(session.device, session.context, *session.tuned, session.peers, arguments.expression,
                                  options_of(arguments, session.info.device.emulated));
    std::vector<ExpressionResult> results;
    const auto write_csv = [&] {
        if (!arguments.csv.empty()) write_file(arguments.csv, expression_csv(session.info, arguments.expression, results));
    };
    write_csv();

    Screen screen = screen_of(stdout);
    screen.wide = arguments.wide;
    print_head(std::cout, session.info, arguments.expression, screen);
    StatusLine status(stderr);
    for (const Shape& shape : shapes) {
        if (interrupt.requested()) break;
        show_progress(status, results.size(), shapes);
        results.push_back(on_device(shape.problem, [&] { return benchmark.run(shape); }));
        status.clear();
        print_result(std::cout, results.back(), screen);
        for (const std::string& skipped : results.back().skipped) say(fmt::format("{}: {}", to_text(shape.problem), skipped));
        write_csv();
    }
    print_means(std::cout, results);
    if (interrupt.requested()) return ExitStatus::interrupted;
    const bool failed = std::any_of(results.begin(), results.end(), [](const ExpressionResult& one) { return !one.failure.empty(); });
    return failed ? ExitStatus::no_winner : ExitStatus::done;
}

}  // namespace tmm::bench
