#include "tools/tmm_tune/tune_tool.h"

#include "tuner/run/helper_options.h"

namespace tmm {
namespace {

std::vector<OptionDescription> options() {
    std::vector<OptionDescription> all = {
        {.name = "gpu",
         .value = "WHICH",
         .help = "GPU numbers (0 or 0,1), all, host (kernels run on the CPU; no GPU needed), or auto (GPU 0, else host)",
         .usual = {"0", "0,1", "all", "host", "auto"},
         .required = "name a GPU (--gpu 0), or --gpu host or auto",
         .unless = "convert"},
        {.name = "shapes",
         .value = "FILE",
         .help =
             "the problems to tune, one a line: M N K [key=value ...]; 1:8192:auto for a size that varies; or a list of another program, "
             "such as TunableOp's, a log of cublasLt or CUTLASS's CSV (docs/lists.md); - is standard input",
         .completion = Completion::file,
         .required = "name a file of shapes, one M N K a line, or - for standard input"},
        {.name = "set",
         .value = "KEY=VALUE",
         .help = "a key of every shape, such as compute=tf32; wins over its line's own",
         .repeatable = true},
        {.name = "db",
         .value = "FILE",
         .help = "the database; else what TMM_DB names, else the user's own",
         .completion = Completion::file,
         .file_use = FileUse::database},
        {.name = "budget", .value = "SECONDS", .help = "time for the whole run; shapes that it does not reach get a predicted config"},
        {.name = "effort",
         .value = "HOW",
         .help = "how sure a search has to be: quick takes about 1 s per shape, normal about 5 s, full as long as it takes to be certain",
         .default_value = "normal",
         .choices = {"quick", "normal", "full"}},
        {.name = "shard",
         .value = "I/N",
         .help = "only one of N parts of the problems, which take equally long (0/16 to 15/16); tmm-db merge joins them"},
        {.name = "remeasure", .help = "measure and decide anew what the database already has results for; the old ones stay in it"},
        {.name = "json", .help = "print the results as JSON; docs/schema describes it"},
        {.name = "wide", .help = "show all columns and every field of a config, however wide the terminal"},
        {.name = "dry-run", .help = "only say what would be measured, and what not and why"},
        {.name = "convert", .help = "only print the problems as a shapes file, whichever program wrote the list; needs no --gpu"},
        {.name = "deadline-floor",
         .value = "SECONDS",
         .help = "what a candidate has at least before it counts as hanging: for tests of hanging candidates",
         .hidden = true},
    };
    const std::vector<OptionDescription> helpers = helper_options();
    all.insert(all.end(), helpers.begin(), helpers.end());
    return all;
}

ToolDescription description() {
    return {
        .name = "tmm-tune",
        .summary = "measure which matrix multiplication kernels are the fastest",
        .synopsis = {"--gpu 0|0,1|all|host|auto --shapes FILE [options]", "--convert --shapes FILE"},
        .description = {"Measures the kernels that may serve each shape, proves their results, and keeps every measurement and each "
                        "shape's winner in the database.",
                        "A run that was interrupted goes on where it stopped; a run after a complete one measures nothing. Results go to "
                        "standard output, progress and messages to standard error."},
        .options = options(),
        .exit_statuses =
            usual_exit_statuses({ExitStatus::done, ExitStatus::usage, ExitStatus::bad_input, ExitStatus::no_device, ExitStatus::no_compiler,
                                 ExitStatus::database, ExitStatus::no_winner, ExitStatus::interrupted}),
        .environment = {"TMM_DB", "TMM_CACHE_DIR", "TMM_NVRTC", "TMM_CXX", "TMM_TEMPLATES", "TMM_HOST_ORDER", "CUDA_HOME", "CUDA_PATH",
                        "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONUSERBASE", "PATH", "XDG_DATA_HOME", "XDG_CACHE_HOME", "HOME", "TMPDIR",
                        "COLUMNS", "TERM", "NO_COLOR"},
        .examples = {{"tmm-tune --gpu auto --shapes shapes.txt", "Tunes on GPU 0, or on the emulated device where there is none."},
                     {"echo 16 4096 4096 | tmm-tune --gpu 0 --shapes -", "Tunes one shape."},
                     {"tmm-tune --gpu all --shapes shapes.txt --budget 600", "Shares the shapes between all GPUs for ten minutes."},
                     {"tmm-tune --gpu 0 --shapes shapes.txt --shard 2/16 --db part2.db", "Tunes the third of sixteen parts of the shapes."},
                     {"tmm-tune --convert --shapes tunableop_untuned0.csv > shapes.txt", "Prints what PyTorch recorded as a shapes file."}},
    };
}

}  // namespace

const ToolDescription& tune_tool() {
    static const auto* tool = new ToolDescription(description());
    return *tool;
}

}  // namespace tmm
