#include "tools/tmm_db/db_tool.h"

#include <limits>

namespace tmm {
namespace {

constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();
constexpr const char* kShapes = "A SHAPE is written as in a shapes file: 1024x1024x1024, or 16 4096 4096 ops=nt.";

std::vector<CommandDescription> commands() {
    return {
        {.name = "ls", .help = "list the winner of every problem"},
        {.name = "shipped", .help = "list the winners that ship with tmm, by GPU"},
        {.name = "show",
         .words = "SHAPE",
         .help = "show the winner of one problem, why it won and what it was chosen from",
         .least_words = 1,
         .most_words = kAnyNumber,
         .details = kShapes,
         .needs = "a shape, like 1024x1024x1024"},
        {.name = "candidates",
         .words = "SHAPE",
         .help = "list every candidate of one problem, the fastest first",
         .least_words = 1,
         .most_words = kAnyNumber,
         .details = kShapes,
         .needs = "a shape, like 1024x1024x1024"},
        {.name = "diff",
         .words = "A B",
         .help = "show where the winners of two databases, or of two devices, differ; those that ship with tmm are left out",
         .least_words = 2,
         .most_words = 2,
         .needs = "two database files",
         .completion = Completion::file,
         .file_use = FileUse::database},
        {.name = "stale", .help = "list the winners that tmm-tune would look at again, since driver, NVRTC or tmm's kernels have changed"},
        {.name = "export", .help = "print every measurement and decision, but no machine profiles, as CSV or JSON"},
        {.name = "import",
         .words = "FILE",
         .help = "store what an export holds",
         .least_words = 1,
         .most_words = 1,
         .needs = "the file of an export",
         .completion = Completion::file},
        {.name = "merge",
         .words = "FILE...",
         .help = "store what other databases hold",
         .least_words = 1,
         .most_words = kAnyNumber,
         .needs = "at least one database file",
         .completion = Completion::file,
         .file_use = FileUse::database},
        {.name = "forget",
         .words = "[SHAPE]",
         .help = "remove what is known of a device (--gpu), of a shape, or what was measured anew since (--remeasured)",
         .most_words = kAnyNumber,
         .details =
             "A SHAPE is forgotten in all of its compute modes, on the devices that --gpu names or on all. What other databases still hold "
             "comes back when they are merged."},
        {.name = "verify", .help = "check the file, every row of it"},
        {.name = "bundle", .help = "write the kernels of one GPU model's problems to a file, with which programs run without a compiler"},
        {.name = "report", .help = "write one HTML file with rooflines, heat maps and tables"},
    };
}

std::vector<OptionDescription> options() {
    return {
        {.name = "db",
         .value = "FILE",
         .help = "the database; else what TMM_DB names, else the user's own",
         .completion = Completion::file,
         .file_use = FileUse::database,
         .commands = {"ls", "show", "candidates", "export", "import", "merge", "forget", "stale", "verify", "report", "bundle"}},
        {.name = "gpu",
         .value = "NAME",
         .help = "only devices whose name holds the words of NAME, such as H200, 'H100 PCIe' or host",
         .usual = {"host"},
         .commands = {"ls", "shipped", "show", "candidates", "diff", "stale", "export", "forget", "report", "bundle"}},
        {.name = "against",
         .value = "NAME",
         .help = "compare A's winners on the device that --gpu names with B's on this one; A and B may be one file",
         .commands = {"diff"}},
        {.name = "remeasured",
         .help = "only measurements of which there is a later one of the same kernel, and decisions that a later one has replaced",
         .commands = {"forget"}},
        {.name = "dry-run", .help = "only say how much would be forgotten", .commands = {"forget"}},
        {.name = "where",
         .value = "CONDITION",
         .help = "only winners that meet it: a key, one of = != < <= > >=, and a value, such as 'm<=16', dtype=bf16 or family=wgmma",
         .repeatable = true,
         .commands = {"ls", "shipped"}},
        {.name = "sort",
         .value = "KEY",
         .help = "by shape, us, tflops, error, vs_default, a key of shapes files such as m, or a field of configs; -us: the largest first",
         .usual = {"shape", "us", "-us", "tflops", "-tflops", "vs_default", "-vs_default"},
         .commands = {"ls", "shipped"}},
        {.name = "csv", .help = "print CSV", .commands = {"export"}},
        {.name = "json",
         .help = "print JSON; docs/schema describes it",
         .commands = {"ls", "shipped", "show", "candidates", "diff", "stale", "export", "verify"}},
        {.name = "wide",
         .help = "show all columns and every field of a config, however wide the terminal",
         .commands = {"ls", "shipped", "show", "candidates", "diff", "stale"}},
        {.name = "driver",
         .value = "VERSION",
         .help = "the CUDA version of the driver to compare with, such as 13.0; else the installed one, else the newest in the database",
         .commands = {"stale"}},
        {.name = "nvrtc",
         .value = "VERSION",
         .help = "the version of NVRTC to compare with; else the installed one, else the newest in the database",
         .commands = {"stale"}},
        {.name = "html",
         .value = "FILE",
         .help = "the file to write; it opens in a browser without a network",
         .completion = Completion::file,
         .file_use = FileUse::written,
         .required = "name the file to write",
         .commands = {"report"}},
        {.name = "out",
         .value = "FILE",
         .help = "the bundle to write",
         .completion = Completion::file,
         .file_use = FileUse::written,
         .required = "name the file to write",
         .commands = {"bundle"}},
        {.name = "shapes",
         .value = "FILE",
         .help = "the problems of the bundle, a shapes file or another program's list, or - for standard input; else all that were tuned "
                 "on the GPU",
         .completion = Completion::file,
         .commands = {"bundle"}},
        {.name = "ceilings",
         .value = "FILE",
         .help = "what tmm-bench --json wrote: the rooflines of its GPU",
         .completion = Completion::file,
         .commands = {"report"}},
        {.name = "winners", .help = "only the newest decision of each problem and device", .commands = {"export"}},
    };
}

std::vector<ExitDescription> exit_statuses() {
    auto statuses = usual_exit_statuses(
        {ExitStatus::done, ExitStatus::usage, ExitStatus::bad_input, ExitStatus::no_compiler, ExitStatus::database, ExitStatus::no_winner});
    for (ExitDescription& exit : statuses) {
        if (exit.status == ExitStatus::bad_input) exit.help = "a bad input file, or merge or export had to leave out rows of one";
        if (exit.status == ExitStatus::no_winner) exit.help = "nothing is known of such a problem or device";
    }
    return statuses;
}

ToolDescription description() {
    return {
        .name = "tmm-db",
        .summary = "look into a tuning database, and move results between databases",
        .synopsis = {"COMMAND [options]"},
        .description = {"Looks into a tuning database, and moves results between databases. It needs no GPU and no driver.", kShapes},
        .commands = commands(),
        .options = options(),
        .exit_statuses = exit_statuses(),
        .environment = {"TMM_DB", "TMM_CACHE_DIR", "TMM_NVRTC", "TMM_CXX", "TMM_TEMPLATES", "XDG_DATA_HOME", "XDG_CACHE_HOME", "HOME",
                        "TMPDIR", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONUSERBASE", "PATH", "COLUMNS", "TERM",
                        "NO_COLOR"},
        .examples = {{"tmm-db ls --gpu H200", "Lists what was tuned on an H200."},
                     {"tmm-db show 16 4096 4096 ops=nt", "Says which kernel one problem gets, and why."},
                     {"tmm-db stale --gpu H200 --driver 13.1", "Says what a newer driver would have tmm-tune look at again."},
                     {"tmm-db export --csv --winners > winners.csv", "Writes the decisions to a file that 'tmm-db import' takes."},
                     {"tmm-db bundle --gpu H200 --shapes app.txt --out app.tmm",
                      "Compiles what a program needs on an H200; TMM_BUNDLE=app.tmm then runs it without NVRTC."}},
    };
}

}  // namespace

const ToolDescription& db_tool() {
    static const auto* tool = new ToolDescription(description());
    return *tool;
}

}  // namespace tmm
