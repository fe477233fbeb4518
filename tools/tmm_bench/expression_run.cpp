#include "tools/tmm_bench/expression_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>

#include "bench/comparison/expression_benchmark.h"
#include "bench/report/expression_report.h"
#include "bench/report/result_file.h"
#include "tools/tmm_bench/session.h"

namespace tmm::bench {
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
