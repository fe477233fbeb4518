#include "tools/tmm_bench/accuracy_run.h"

#include <fmt/format.h>

#include <iostream>

#include "bench/accuracy/accuracy_benchmark.h"
#include "bench/report/accuracy_report.h"
#include "bench/report/result_file.h"
#include "tools/tmm_bench/session.h"

namespace tmm::bench {

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

}  // namespace tmm::bench
