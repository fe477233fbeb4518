// tmm-tune: measures the kernels that may serve each shape on each GPU and keeps every result.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <csignal>
#include <iostream>

#include "generator/environment.h"
#include "generator/error.h"
#include "generator/log.h"
#include "generator/shapes_file.h"
#include "generator/tool_main.h"
#include "runtime/device.h"
#include "tuner/candidates.h"
#include "tuner/report.h"
#include "tuner/tuning_run.h"
#include "tuner/worker.h"
#include "tuner/worker_process.h"

namespace {

namespace po = boost::program_options;
using namespace tmm;

constexpr const char* kUsage =
    "Usage: tmm-tune --gpu 0|0,1|all|host|auto --shapes shapes.txt [options]\n"
    "\n"
    "Measures the kernels that may serve each shape, proves their results, and keeps every measurement and each shape's\n"
    "winner in the database. A run that was interrupted goes on where it stopped; a run after a complete one measures nothing.\n"
    "Exit status: 0 done, 1 usage, 2 bad shapes file, 3 no such device or driver, 4 compiler missing, 5 database,\n"
    "6 a problem has no verified winner, 130 interrupted.\n";

// --gpu. Says on stderr what "auto" became.
std::vector<int> parse_gpus(const std::string& text) {
    if (text == "host") return {kHostDevice};
    if (text == "auto") {
        const bool gpu = gpu_count() > 0;
        std::fprintf(stderr, "tmm-tune: --gpu auto: %s\n", gpu ? "taking GPU 0" : "no GPU here, taking the emulated device (host)");
        return {gpu ? 0 : kHostDevice};
    }
    std::vector<int> ordinals;
    if (text == "all") {
        for (int i = 0; i < gpu_count(); ++i) ordinals.push_back(i);
        // The driver says what is missing.
        if (ordinals.empty()) ordinals.push_back(0);
        return ordinals;
    }
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        int ordinal = -1;
        const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, ordinal);
        if (error != std::errc{} || stop != text.data() + end || ordinal < 0)
            throw Error(ExitStatus::usage, fmt::format("'{}' is no GPU", text.substr(begin, end - begin)), "--gpu",
                        "use numbers such as 0 or 0,1, or all, host, auto");
        if (std::find(ordinals.begin(), ordinals.end(), ordinal) != ordinals.end())
            throw Error(ExitStatus::usage, fmt::format("GPU {} is named twice", ordinal), "--gpu");
        ordinals.push_back(ordinal);
        begin = end + 1;
    }
    return ordinals;
}

ShapeOverrides parse_overrides(const std::vector<std::string>& settings) {
    ShapeOverrides overrides;
    for (const std::string& setting : settings) {
        const auto equals = setting.find('=');
        if (equals == std::string::npos || equals == 0)
            throw Error(ExitStatus::usage, fmt::format("'{}' is not key=value", setting), "--set", "for example --set compute=f32_strict");
        overrides.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
    }
    return overrides;
}

double parse_seconds(const po::variables_map& values, const char* name) {
    if (values.count(name) == 0) return 0;
    const double seconds = values[name].as<double>();
    if (!(seconds > 0 && seconds < 1e9)) throw Error(ExitStatus::usage, "must be a positive number of seconds", fmt::format("--{}", name));
    return seconds;
}

ExitStatus dry_run(const std::vector<Shape>& shapes, const TuningOptions& options, bool json, const Interrupt& interrupt) {
    std::vector<DryRun> results;
    // Only the worker may open a GPU; without one the emulated device stands in.
    for (const int ordinal : options.ordinals) {
        DryRun result;
        if (ordinal == kHostDevice) {
            result.device = host_device_info();
        } else if (gpu_count() == 0) {
            std::fputs("tmm-tune: no GPU here, --dry-run takes the emulated device (host)\n", stderr);
            result.device = host_device_info();
        } else {
            result.device = WorkerProcess(ordinal, interrupt).device();
        }
        for (const Shape& shape : shapes) {
            if (interrupt.requested()) return ExitStatus::interrupted;
            result.problems.push_back(dry_run_of(shape, result.device, options.effort, json));
        }
        results.push_back(std::move(result));
    }
    fmt::print("{}", json ? json_text(results) : table_text(results));
    return ExitStatus::done;
}

// While it lives, log lines take the place of the bar for a moment, as the tuner's own do.
class LogBesideProgress {
public:
    explicit LogBesideProgress(Progress& progress) {
        set_log_sink([&progress](const std::string& line) { progress.note("tmm: " + line); });
    }
    ~LogBesideProgress() { set_log_sink({}); }
    LogBesideProgress(const LogBesideProgress&) = delete;
    LogBesideProgress& operator=(const LogBesideProgress&) = delete;
};

ExitStatus run(int argc, char** argv) {
    po::options_description visible("Options");
    // clang-format off
    visible.add_options()
        ("help,h", "print this text")
        ("version", "print the version")
        ("gpu", po::value<std::string>()->value_name("WHICH"),
         "GPU numbers (0 or 0,1), all, host (kernels run on the CPU; no GPU needed), or auto (GPU 0, else host)")
        ("shapes", po::value<std::string>()->value_name("FILE"), "problems to tune: one a line, M N K [key=value ...]")
        ("set", po::value<std::vector<std::string>>()->composing()->value_name("KEY=VALUE"), "a key for every shape, before its line's own")
        ("db", po::value<std::string>()->value_name("FILE"), "the database (default: TMM_DB, else ~/.local/share/tmm/tmm.db)")
        ("budget", po::value<double>()->value_name("SECONDS"), "time for the whole run; every shape gets a winner all the same")
        ("effort", po::value<std::string>()->value_name("HOW")->default_value("normal"), "quick, normal or full: how many candidates; quick takes those that the database knows as the fastest")
        ("json", "results as JSON")
        ("dry-run", "only say what would be measured, and what not and why");
    po::options_description hidden;
    hidden.add_options()
        ("worker", po::value<int>(), "")
        // Seconds that a candidate has at least before it counts as hanging: for tests of hanging candidates.
        ("deadline-floor", po::value<double>(), "");
    // clang-format on
    po::options_description all;
    all.add(visible).add(hidden);
    po::variables_map values;
    try {
        const po::positional_options_description none;
        using po::command_line_style::allow_guessing;
        using po::command_line_style::unix_style;
        po::store(po::command_line_parser(argc, argv).options(all).positional(none).style(unix_style & ~allow_guessing).run(), values);
        po::notify(values);
    } catch (const po::error& error) {
        throw Error(ExitStatus::usage, error.what(), {}, "see tmm-tune --help");
    }
    if (values.count("help") != 0) {
        std::cout << kUsage << '\n' << visible << std::flush;
        return ExitStatus::done;
    }
    if (values.count("version") != 0) {
        fmt::print("tmm-tune {}\n", TMM_VERSION_TEXT);
        return ExitStatus::done;
    }
    if (values.count("worker") != 0) return static_cast<ExitStatus>(serve_worker(values["worker"].as<int>()));

    // SQLite would take a nameless file for one that it drops at the end.
    for (const char* name : {"shapes", "db"})
        if (values.count(name) != 0 && values[name].as<std::string>().empty())
            throw Error(ExitStatus::usage, "the file's name is empty", fmt::format("--{}", name), "name a file, or leave the option out");
    if (values.count("gpu") == 0) throw Error(ExitStatus::usage, "--gpu is missing", {}, "name a GPU (--gpu 0), or --gpu host or auto");
    if (values.count("shapes") == 0) throw Error(ExitStatus::usage, "--shapes is missing", {}, "name a file of shapes, one M N K a line");
    TuningOptions options;
    options.effort = parse_effort(values["effort"].as<std::string>());
    options.budget_seconds = parse_seconds(values, "budget");
    options.deadline_floor = parse_seconds(values, "deadline-floor");
    options.database = values.count("db") != 0 ? std::filesystem::path(values["db"].as<std::string>()) : default_database_path();
    const bool json = values.count("json") != 0;
    const ShapeOverrides overrides =
        parse_overrides(values.count("set") != 0 ? values["set"].as<std::vector<std::string>>() : std::vector<std::string>{});

    std::signal(SIGPIPE, SIG_IGN);
    // Signals still end the process while it waits for what may be a pipe.
    const std::vector<Shape> shapes = read_shapes(values["shapes"].as<std::string>(), overrides);
    // Before any thread is made, and before gpu_count() lets the driver make some.
    const Interrupt interrupt;
    options.ordinals = parse_gpus(values["gpu"].as<std::string>());
    if (shapes.empty()) throw Error(ExitStatus::bad_input, "holds no shapes", values["shapes"].as<std::string>(), "write one M N K a line");
    if (values.count("dry-run") != 0) return dry_run(shapes, options, json, interrupt);

    // Compiling on many threads fragments the heap of each; a few arenas keep the parent small.
    mallopt(M_ARENA_MAX, 4);
    Progress progress(stderr);
    const LogBesideProgress log(progress);
    const RunReport report = run_tuning(shapes, options, progress, interrupt);
    fmt::print("{}", json ? json_text(report, options.database) : table_text(report));
    if (!json) fmt::print("database: {}\n", options.database.string());
    return report.status();
}

}  // namespace

int main(int argc, char** argv) {
    return tmm::tool_main("tmm-tune", [&] { return run(argc, argv); });
}
