// tmm-bench: the tuned library against cuBLAS, cuBLASLt, the CPU and the naive kernel, side by side; and its accuracy.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/program_options.hpp>
#include <charconv>
#include <ctime>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>

#include "bench/accuracy_benchmark.h"
#include "bench/accuracy_report.h"
#include "bench/byte_count.h"
#include "bench/ceilings.h"
#include "bench/commit_stamp.h"
#include "bench/peers.h"
#include "bench/report.h"
#include "bench/result_file.h"
#include "bench/shape_benchmark.h"
#include "generator/environment.h"
#include "generator/error.h"
#include "generator/text.h"
#include "generator/tool_main.h"
#include "tuner/interrupt.h"

namespace tmm::bench {
namespace {

namespace options = boost::program_options;

struct Arguments {
    std::string shapes;
    std::vector<std::string> set;
    std::string vs;
    std::string gpu;
    std::string database;
    std::string csv;
    std::string json;
    std::string label;
    std::string cublas_directory;
    int pairs = 30;
    double settle_seconds = 1;
    std::int64_t workspace_mib = 64;
    std::string max_workspace;
    std::string prepared;
    bool roofline = false;
    bool accuracy = false;
};

options::options_description described(Arguments& arguments) {
    options::options_description all("options", 120, 80);
    all.add_options()("help,h", "this text")                                                                                       //
        ("shapes", options::value(&arguments.shapes)->value_name("FILE"), "the problems, one a line")                              //
        ("set", options::value(&arguments.set)->value_name("KEY=VALUE"), "key of every line in the shapes file; may be repeated")  //
        ("vs", options::value(&arguments.vs)->value_name("LIST"),
         "peers from cublas,cublaslt,cpu,naive; default cublas,cublaslt on a GPU, cpu,naive on the emulated device")                 //
        ("gpu", options::value(&arguments.gpu)->value_name("N|host|auto")->default_value("auto"), "the device")                      //
        ("db", options::value(&arguments.database)->value_name("FILE"), "the tuning database; default TMM_DB, else the user's own")  //
        ("pairs", options::value(&arguments.pairs)->value_name("N")->default_value(30), "pairs timed a shape; a claim needs 30")     //
        ("settle", options::value(&arguments.settle_seconds)->value_name("SECONDS")->default_value(1, "1"),
         "least time for the clock to settle before a shape's pairs")  //
        ("workspace-limit", options::value(&arguments.workspace_mib)->value_name("MIB")->default_value(64),
         "workspace that cuBLAS and cuBLASLt get")  //
        ("max-workspace", options::value(&arguments.max_workspace)->value_name("BYTES"),
         "workspace that tmm's plans may need at most, such as 64MiB; default: whatever the fastest needs")                    //
        ("cublas-dir", options::value(&arguments.cublas_directory)->value_name("DIR"), "where libcublas and libcublasLt are")  //
        ("prepared", options::value(&arguments.prepared)->value_name("a|b|ab"),
         "time tmm with these operands prepared once, as if they stayed the same from call to call; of a row-major shape")  //
        ("roofline", options::bool_switch(&arguments.roofline),
         "measure how fast the device reads, multiplies and launches, and say how far above its floor each shape's times are")  //
        ("accuracy", options::bool_switch(&arguments.accuracy),
         "time nothing: measure the errors of tmm, of a loop of FP32 FMAs and, with --vs cublas, of cuBLAS on ten families of inputs")  //
        ("csv", options::value(&arguments.csv)->value_name("FILE"), "also write the table as CSV")                                      //
        ("json", options::value(&arguments.json)->value_name("FILE"), "also write everything, with all samples, as JSON")               //
        ("label", options::value(&arguments.label)->value_name("TEXT"), "stands in the files for the commit that tmm was built from");
    return all;
}

[[noreturn]] void usage_error(const std::string& what, const std::string& where, const std::string& remedy = "see tmm-bench --help") {
    throw Error(ExitStatus::usage, what, where, remedy);
}

int parse_gpu(const std::string& text) {
    if (text == "host") return kHostDevice;
    if (text == "auto") {
        if (gpu_count() > 0) return 0;
        std::cerr << "tmm-bench: no GPU found, using the emulated device (--gpu host)\n";
        return kHostDevice;
    }
    int ordinal = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ordinal);
    if (error != std::errc() || end != text.data() + text.size() || ordinal < 0)
        usage_error(fmt::format("\"{}\" is no GPU", text), "--gpu", "give its number, host or auto");
    return ordinal;
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, ',');)
        if (!part.empty()) parts.push_back(part);
    return parts;
}

ShapeOverrides parse_overrides(const std::vector<std::string>& settings) {
    ShapeOverrides overrides;
    for (const std::string& setting : settings) {
        const std::size_t equals = setting.find('=');
        if (equals == std::string::npos || equals == 0) usage_error(fmt::format("\"{}\" is not KEY=VALUE", setting), "--set");
        overrides.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
    }
    return overrides;
}

std::string now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::unique_ptr<Peer> open_peer(const std::string& name, const std::shared_ptr<Device>& device, const PeerOptions& peer_options) {
    try {
        return make_peer(name, device, peer_options);
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        throw Error(ExitStatus::no_device, fmt::format("{} does not start: {}", name, error.what()), "--vs", "leave it out of --vs");
    }
}

// Runs what works on the shape.
template <class Body>
auto on_device(const GemmProblem& problem, const Body& body) {
    try {
        return body();
    } catch (const DeviceFault& fault) {
        throw Error(ExitStatus::no_device, fmt::format("the device is lost: {}", fault.what()), to_text(problem),
                    "run again without this shape, and verify it by tmm-tune");
    }
}

std::optional<std::int64_t> max_workspace(const Arguments& arguments) {
    if (arguments.max_workspace.empty()) return std::nullopt;
    const std::optional<std::int64_t> bytes = parse_bytes(arguments.max_workspace);
    if (!bytes)
        usage_error(fmt::format("\"{}\" is no number of bytes", arguments.max_workspace), "--max-workspace",
                    "give one such as 0, 67108864, 64MiB or 2GiB");
    return bytes;
}

void check_usage(const Arguments& arguments) {
    if (arguments.shapes.empty()) usage_error("--shapes is missing", "");
    if (arguments.pairs < 1) usage_error("at least one pair is needed", "--pairs");
    if (!(arguments.settle_seconds >= 0 && arguments.settle_seconds <= 600)) usage_error("between 0 and 600 seconds", "--settle");
    if (!arguments.csv.empty() && arguments.csv == arguments.json)
        usage_error("both would go into one file", "--csv, --json", "name two files");
    if (arguments.label.find_first_of("\r\n") != std::string::npos) usage_error("it is one line", "--label");
    if (arguments.workspace_mib < 0 || arguments.workspace_mib > 65536) usage_error("between 0 and 65536 MiB", "--workspace-limit");
    (void)max_workspace(arguments);
    if (arguments.prepared != "" && arguments.prepared != "a" && arguments.prepared != "b" && arguments.prepared != "ab")
        usage_error(fmt::format("\"{}\" is none of a, b and ab", arguments.prepared), "--prepared");
    if (!arguments.accuracy) return;
    if (!arguments.prepared.empty())
        usage_error("--prepared is about times, and --accuracy takes none", "--accuracy", "leave one of them out");
    if (arguments.roofline) usage_error("--roofline is about times, and --accuracy takes none", "--accuracy", "leave one of them out");
    for (const std::string& name : split(arguments.vs))
        if (name != "cublas")
            usage_error(fmt::format("--accuracy does not compare with \"{}\"", name), "--vs",
                        "give cublas, or leave --vs out: a loop of FP32 FMAs always takes part");
}

std::vector<Shape> shapes_of(const Arguments& arguments) {
    std::vector<Shape> shapes = read_shapes(arguments.shapes, parse_overrides(arguments.set));
    if (arguments.accuracy) check_promised(shapes, arguments.shapes);
    return shapes;
}

// What both modes begin with.
struct Session {
    explicit Session(const Arguments& arguments)
        : shapes(shapes_of(arguments)), ordinal(parse_gpu(arguments.gpu)), device(open_device(ordinal)), context(ordinal) {
        const bool emulated = device->info().emulated;
        const std::vector<std::string> usual = arguments.accuracy ? std::vector<std::string>() : default_peers(device->info());
        info = {.label = arguments.label.empty() ? kCommit : arguments.label,
                .date = now(),
                .device = device->info(),
                .kernel_driver = kernel_driver_version(),
                .nvrtc_version = emulated ? 0 : nvrtc_version(),
                .pairs = arguments.accuracy ? 0 : arguments.pairs,
                .max_workspace = max_workspace(arguments),
                .prepared = arguments.prepared,
                .peers = arguments.vs.empty() ? usual : split(arguments.vs),
                .peer_versions = {},
                .ceilings = {}};
        const PeerOptions peer_options{.cublas_directory = arguments.cublas_directory, .workspace_bytes = arguments.workspace_mib << 20};
        for (const std::string& name : info.peers) {
            peers.push_back(open_peer(name, device, peer_options));
            info.peer_versions.push_back(peers.back()->version());
            std::cerr << fmt::format("tmm-bench: {}: {}\n", name, info.peer_versions.back());
        }
        tuned.emplace(ordinal, device, arguments.database.empty() ? default_database_path() : std::filesystem::path(arguments.database),
                      info.max_workspace, arguments.prepared);
    }

    std::vector<Shape> shapes;
    int ordinal;
    std::shared_ptr<Device> device;
    DriverContext context;
    RunInfo info;
    std::vector<std::unique_ptr<Peer>> peers;
    std::optional<TunedLibrary> tuned;
};

// On a terminal: which shape is being worked on.
void show_progress(std::size_t done, const std::vector<Shape>& shapes) {
    if (isatty(STDERR_FILENO)) std::cerr << fmt::format("\r\033[K{}/{} {}\r", done + 1, shapes.size(), to_text(shapes[done].problem));
}
void clear_progress() {
    if (isatty(STDERR_FILENO)) std::cerr << "\r\033[K";
}

ExitStatus run_comparison(const Arguments& arguments, const Interrupt& interrupt) {
    Session session(arguments);
    const std::vector<Shape>& shapes = session.shapes;
    RunInfo& info = session.info;
    const bool emulated = info.device.emulated;

    BenchmarkOptions benchmark_options;
    benchmark_options.pairs = arguments.pairs;
    benchmark_options.settle.least_seconds = emulated ? 0 : arguments.settle_seconds;
    benchmark_options.settle.most_seconds = emulated ? 0 : std::max(4 * arguments.settle_seconds, 0.1);
    ShapeBenchmark benchmark(session.device, session.context, *session.tuned, session.peers, benchmark_options);

    std::optional<CeilingBench> ceiling_bench;
    if (arguments.roofline) {
        std::cerr << "tmm-bench: measuring the device's ceilings\n";
        std::set<Arithmetic> arithmetics;
        for (const Shape& shape : shapes) arithmetics.insert(arithmetic_of(shape.problem));
        ceiling_bench.emplace(session.device, arithmetics, benchmark_options.settle, benchmark_options.sample_us);
        info.ceilings = benchmark.measure_ceilings(*ceiling_bench);
    }

    std::vector<ShapeResult> results;
    const auto write_files = [&] {
        if (!arguments.csv.empty()) write_file(arguments.csv, csv(info, results));
        if (!arguments.json.empty()) write_file(arguments.json, json(info, results));
    };
    // A file that can't be written is better known before the first shape is timed.
    write_files();

    std::cerr << fmt::format("tmm-bench: {} shape{} on {}, {} pairs each\n", shapes.size(), shapes.size() == 1 ? "" : "s", info.device.name,
                             arguments.pairs);
    if (!emulated && arguments.pairs < 30) std::cerr << "tmm-bench: fewer than 30 pairs: good for a look, not for a claim\n";
    Table table(std::cout, shapes, info);
    bool all_good = true;
    for (const Shape& shape : shapes) {
        if (interrupt.requested()) break;
        show_progress(results.size(), shapes);
        results.push_back(on_device(shape.problem, [&] { return benchmark.run(shape); }));
        clear_progress();
        const ShapeResult& result = results.back();
        table.row(result);
        for (const PeerResult& peer : result.peers)
            if (!peer.skipped.empty())
                std::cerr << fmt::format("tmm-bench: {}: {} skipped: {}\n", to_text(shape.problem), peer.name, peer.skipped);
        all_good = all_good && result.failure.empty() && !result.check.wrong();
        // After every shape, so that a run that is cut short leaves what it has.
        write_files();
    }
    print_means(std::cout, results);
    print_roofline(std::cout, info, results);
    if (interrupt.requested()) return ExitStatus::interrupted;
    return all_good ? ExitStatus::done : ExitStatus::no_winner;
}

ExitStatus run_accuracy(const Arguments& arguments, const Interrupt& interrupt) {
    Session session(arguments);
    const std::vector<Shape>& shapes = session.shapes;
    AccuracyBenchmark benchmark(session.device, session.context.stream(), *session.tuned,
                                session.peers.empty() ? nullptr : session.peers.front().get());
    std::vector<ShapeAccuracy> results;
    const auto write_files = [&] {
        if (!arguments.csv.empty()) write_file(arguments.csv, accuracy_csv(session.info, results));
        if (!arguments.json.empty()) write_file(arguments.json, accuracy_json(session.info, results));
    };
    write_files();

    AccuracyTable table(std::cout, shapes, session.info);
    bool all_good = true;
    for (const Shape& shape : shapes) {
        if (interrupt.requested()) break;
        const auto family_done = [&](const ShapeAccuracy& result) {
            clear_progress();
            table.row(result);
            show_progress(results.size(), shapes);
            return !interrupt.requested();
        };
        show_progress(results.size(), shapes);
        results.push_back(on_device(shape.problem, [&] { return benchmark.run(shape.problem, family_done); }));
        clear_progress();
        const ShapeAccuracy& result = results.back();
        table.end(result);
        if (!result.cublas_skipped.empty())
            std::cerr << fmt::format("tmm-bench: {}: cublas skipped: {}\n", to_text(shape.problem), result.cublas_skipped);
        all_good = all_good && result.holds();
        write_files();
    }
    print_verdicts(std::cout, results);
    if (interrupt.requested()) return ExitStatus::interrupted;
    return all_good ? ExitStatus::done : ExitStatus::no_winner;
}

ExitStatus run_tool(int argc, char** argv) {
    Arguments arguments;
    const options::options_description all = described(arguments);
    try {
        options::variables_map values;
        using options::command_line_style::allow_guessing;
        using options::command_line_style::unix_style;
        options::store(options::command_line_parser(argc, argv).options(all).positional({}).style(unix_style & ~allow_guessing).run(),
                       values);
        options::notify(values);
        if (values.count("db") && arguments.database.empty()) usage_error("the file's name is empty", "--db");
        if (values.count("help")) {
            std::cout << "tmm-bench --shapes FILE [options]\n\nTimes the tuned kernels against other ways to multiply, side by side in one "
                         "process, and compares results.\n"
                         "With --accuracy it measures how far the tuned kernels' results are from the exact ones instead.\n"
                         "Exit status: 0 done, 1 usage, 2 bad input file, 3 no such device, driver or peer library, 4 compiler missing,\n"
                         "5 database, 6 a shape failed, results differ or are less accurate than promised, 130 interrupted.\n\n"
                      << all;
            return ExitStatus::done;
        }
    } catch (const options::error& error) {
        usage_error(error.what(), "");
    }
    const Interrupt interrupt;
    check_usage(arguments);
    return arguments.accuracy ? run_accuracy(arguments, interrupt) : run_comparison(arguments, interrupt);
}

}  // namespace
}  // namespace tmm::bench

int main(int argc, char** argv) {
    return tmm::tool_main("tmm-bench", [&] { return tmm::bench::run_tool(argc, argv); });
}
