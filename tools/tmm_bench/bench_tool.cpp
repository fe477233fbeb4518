#include "tools/tmm_bench/bench_tool.h"

#include <fmt/core.h>

#include <sstream>

#include "base/error.h"
#include "base/text/byte_count.h"
#include "base/text/environment.h"
#include "base/text/printable.h"
#include "generator/kernel/expression.h"
#include "generator/text/shape_overrides.h"
#include "tuner/run/helper_options.h"

namespace tmm::bench {
namespace {

std::vector<OptionDescription> run_options() {
    return {
        {.name = "shapes",
         .value = "FILE",
         .help = "the problems, one a line: M N K [key=value ...]; or a list of another program (docs/lists.md); - is standard input",
         .completion = Completion::file,
         .required = "name a file of shapes, one M N K a line, or - for standard input"},
        {.name = "set",
         .value = "KEY=VALUE",
         .help = "a key of every shape, such as compute=tf32; wins over its line's own",
         .repeatable = true},
        {.name = "vs",
         .value = "LIST",
         .help = "the peers, from cublas,cublaslt,cpu,naive and configs such as 'tiled 16x16x16'; else cublas,cublaslt on a GPU, "
                 "cpu,naive on the emulated device",
         .usual = {"cublas", "cublaslt", "cublas,cublaslt", "cpu", "naive", "cpu,naive"}},
        {.name = "gpu",
         .value = "WHICH",
         .help = "the device: a GPU's number, host (kernels run on the CPU), auto (GPU 0, else host), or all where there is one GPU",
         .default_value = "auto",
         .usual = {"0", "host", "auto"}},
        {.name = "db",
         .value = "FILE",
         .help = "the database; else what TMM_DB names, else the user's own",
         .completion = Completion::file,
         .file_use = FileUse::database},
        {.name = "pairs", .value = "N", .help = "pairs timed a shape; a claim needs 30", .default_value = "30"},
        {.name = "settle",
         .value = "SECONDS",
         .help = "the least time for the clock to settle before a shape's pairs",
         .default_value = "1"},
        {.name = "workspace-limit", .value = "MIB", .help = "workspace that cuBLAS and cuBLASLt get", .default_value = "64"},
        {.name = "max-workspace",
         .value = "BYTES",
         .help = "workspace that tmm's plans may need at most, such as 64MiB; else whatever the fastest needs"},
        {.name = "cublas-dir", .value = "DIR", .help = "where libcublas and libcublasLt are", .completion = Completion::directory},
    };
}

// They are for work on tmm.
std::vector<OptionDescription> recording_options() {
    return {
        {.name = "record",
         .value = "FILE",
         .help = "measure many configs of each shape, good and bad, and add their times to a file by which searches are judged",
         .completion = Completion::file,
         .file_use = FileUse::written,
         .hidden = true},
        {.name = "budget", .value = "SECONDS", .help = "time for the whole recording", .hidden = true},
        {.name = "shard", .value = "I/N", .help = "only one of N parts of the shapes to record", .hidden = true},
    };
}

std::vector<OptionDescription> options() {
    std::vector<OptionDescription> all = run_options();
    const std::vector<OptionDescription> modes = {
        {.name = "prepared",
         .value = "WHICH",
         .help = "time tmm with these operands of row-major shapes prepared once, as if they stayed the same from call to call",
         .choices = {"a", "b", "ab"}},
        {.name = "roofline",
         .help = "measure how fast the device reads, multiplies and launches, and say how far above its floor each shape's times are"},
        {.name = "accuracy",
         .help =
             "time nothing: measure the errors of tmm, of a loop of FP32 FMAs and, with --vs cublas, of cuBLAS on ten families of inputs"},
        {.name = "expression",
         .value = "TEXT",
         .help =
             "time this expression as the epilogue of every shape, such as 'fmaxf(x + bias, 0)' (bias and residual are what the shape's "
             "epilogue has), against tmm's plain product and against the peers' with an elementwise kernel behind"},
        {.name = "csv",
         .value = "FILE",
         .help = "also write the table as CSV",
         .completion = Completion::file,
         .file_use = FileUse::written},
        {.name = "json",
         .value = "FILE",
         .help = "also write everything, with all samples, as JSON",
         .completion = Completion::file,
         .file_use = FileUse::written},
        {.name = "wide", .help = "show all columns, however wide the terminal"},
        {.name = "label", .value = "TEXT", .help = "stands in the files for the commit that tmm was built from"},
    };
    all.insert(all.end(), modes.begin(), modes.end());
    const std::vector<OptionDescription> recording = recording_options();
    all.insert(all.end(), recording.begin(), recording.end());
    const std::vector<OptionDescription> helpers = helper_options();
    all.insert(all.end(), helpers.begin(), helpers.end());
    return all;
}

ToolDescription description() {
    return {
        .name = "tmm-bench",
        .summary = "compare tuned matrix multiplication with other libraries",
        .synopsis = {"--shapes FILE [--gpu WHICH] [--vs LIST] [options]"},
        .description =
            {"Times the tuned kernels against other ways to multiply, side by side in one process, and compares results. A ratio above 1 "
             "says that tmm is faster.",
             "A library serves a shape's epilogue by its own, where it has that one, or by a kernel behind its product; the faster way "
             "counts.",
             "With --accuracy it times nothing and measures how far results are from the exact ones. With --expression it times an "
             "epilogue of your own, applied in the place that the library finds faster when it makes the plan."},
        .options = options(),
        .exit_statuses = {{ExitStatus::done, "done"},
                          {ExitStatus::usage, "wrong usage"},
                          {ExitStatus::bad_input, "a bad input file"},
                          {ExitStatus::no_device, "no such device, driver or peer library"},
                          {ExitStatus::no_compiler, "the compiler is missing"},
                          {ExitStatus::database, "the database can't be used"},
                          {ExitStatus::no_winner, "a shape failed, results differ or are less accurate than promised"},
                          {ExitStatus::interrupted, "interrupted"}},
        .environment = {"TMM_DB", "TMM_CACHE_DIR", "TMM_NVRTC", "TMM_CXX", "TMM_TEMPLATES", "TMM_HOST_ORDER", "CUDA_HOME", "CUDA_PATH",
                        "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONUSERBASE", "PATH", "XDG_DATA_HOME", "XDG_CACHE_HOME", "HOME", "TMPDIR",
                        "COLUMNS", "TERM"},
        .examples = {{"tmm-bench --shapes shapes.txt", "Compares with the device's usual peers."},
                     {"tmm-bench --shapes shapes.txt --gpu 0 --vs cublas --json run.json", "Keeps every sample, too."},
                     {"tmm-bench --shapes shapes.txt --accuracy", "Measures errors instead of times."},
                     {"tmm-bench --shapes shapes.txt --expression 'x / (1 + expf(-x))'", "Times an epilogue of your own."}},
    };
}

[[noreturn]] void fail(const std::string& what, const std::string& where, const std::string& remedy) {
    throw Error(ExitStatus::usage, what, where, remedy);
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, ',');)
        if (!part.empty()) parts.push_back(part);
    return parts;
}

std::optional<std::int64_t> max_workspace(const CommandLine& line) {
    if (!line.has("max-workspace")) return std::nullopt;
    const std::optional<std::int64_t> bytes = parse_bytes(line.text("max-workspace"));
    if (!bytes)
        fail(fmt::format("{} is no number of bytes", in_quotes(line.text("max-workspace"))), "--max-workspace",
             "give one such as 0, 67108864, 64MiB or 2GiB");
    return bytes;
}

void check_accuracy(const CommandLine& line, const Arguments& arguments) {
    for (const char* name : {"prepared", "roofline"})
        if (line.has(name))
            fail(fmt::format("--{} is about times, and --accuracy takes none", name), "--accuracy", "leave one of them out");
    for (const std::string& name : arguments.peers)
        if (name != "cublas")
            fail(fmt::format("--accuracy does not compare with {}", in_quotes(name)), "--vs",
                 "give cublas, or leave --vs out: a loop of FP32 FMAs always takes part");
}

void check_expression(const CommandLine& line, const Arguments& arguments) {
    for (const char* name : {"accuracy", "prepared", "roofline", "json"})
        if (line.has(name)) fail(fmt::format("--{} says nothing of an expression", name), "--expression", "leave one of them out");
    if (const std::optional<std::string> reason = why_no_expression(arguments.expression))
        fail(*reason, "--expression", "give one C++ expression over x, bias, residual, row, column and batch");
}

}  // namespace

const ToolDescription& bench_tool() {
    static const auto* tool = new ToolDescription(description());
    return *tool;
}

Arguments arguments_of(const CommandLine& line) {
    const Arguments arguments{
        .shapes = line.text("shapes"),
        .overrides = parse_overrides(line.values("set")),
        .peers = split(line.text("vs")),
        .gpu = line.text("gpu"),
        .database = line.has("db") ? std::filesystem::path(line.text("db")) : default_database_path(),
        .csv = line.text("csv"),
        .json = line.text("json"),
        .label = line.text("label"),
        .cublas_directory = line.text("cublas-dir"),
        .pairs = static_cast<int>(line.whole_number("pairs", 1, 1'000'000)),
        .settle_seconds = line.number("settle", 0, 600),
        .workspace_bytes = line.whole_number("workspace-limit", 0, 65536) << 20,
        .max_workspace = max_workspace(line),
        .prepared = line.text("prepared"),
        .roofline = line.has("roofline"),
        .accuracy = line.has("accuracy"),
        .expression = line.text("expression"),
        .wide = line.has("wide"),
    };
    if (arguments.label.find_first_of("\r\n") != std::string::npos) fail("it is not one line", "--label", "leave the line break out");
    if (line.has("expression")) check_expression(line, arguments);
    if (arguments.accuracy) check_accuracy(line, arguments);
    return arguments;
}

}  // namespace tmm::bench
