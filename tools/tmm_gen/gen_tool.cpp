#include "tools/tmm_gen/gen_tool.h"

#include "generator/text/text.h"

namespace tmm {
namespace {

std::vector<OptionDescription> options() {
    return {
        {.name = "shape",
         .value = "SHAPE",
         .help = "the problem: MxNxK, then key=value pairs as in a shapes file",
         .required = "write it like --shape 1000x1000x1000"},
        {.name = "set", .value = "KEY=VALUE", .help = "a key of the problem, such as compute=tf32; wins over --shape", .repeatable = true},
        {.name = "config", .value = "CONFIG", .help = "the kernel's config, such as 'tiled 16x16x16'; else what an untuned problem gets"},
        {.name = "gpu-arch",
         .value = "NN",
         .help = "the compute capability to generate for",
         .default_value = "90",
         .usual = {"75", "80", "86", "89", "90", "100"}},
        {.name = "db",
         .value = "FILE",
         .help = "a tuning database: predict for the GPU of that compute capability that was last measured there",
         .completion = Completion::file,
         .file_use = FileUse::database},
        {.name = "stub",
         .help = "print the short text that instantiates each kernel; this is what happens where nothing else is asked for"},
        {.name = "source", .help = "print each kernel's whole source, templates and all"},
        {.name = "ptx", .help = "print each kernel's PTX"},
        {.name = "explain",
         .help = "print the predicted time in its terms, threads, shared memory, loads, registers, blocks per SM and grid, or why the "
                 "config is invalid"},
    };
}

SectionDescription config_fields() {
    SectionDescription section{.title = "Fields of a config, and how they are spelled", .rows = {}};
    for (const ConfigFieldHelp& field : config_field_help())
        section.rows.push_back({field.token.empty() ? field.name : field.name + " (" + field.token + ")", field.help});
    return section;
}

ToolDescription description() {
    return {
        .name = "tmm-gen",
        .summary = "print the kernel that a config gives for a matrix multiplication",
        .synopsis = {"--shape SHAPE [--config CONFIG] [--stub|--source|--ptx|--explain] [options]"},
        .description = {"Prints the kernels that a config gives for a problem. It needs no GPU and no driver; --ptx, and the registers in "
                        "--explain, need libnvrtc."},
        .options = options(),
        .sections = {config_fields()},
        .exit_statuses = {{ExitStatus::done, "done"},
                          {ExitStatus::usage, "wrong usage, or the config can't serve the problem"},
                          {ExitStatus::bad_input, "the templates can't be read or do not compile"},
                          {ExitStatus::no_compiler, "libnvrtc is missing"},
                          {ExitStatus::database, "the database can't be read"}},
        .environment = {"TMM_NVRTC", "TMM_TEMPLATES", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONUSERBASE", "PATH"},
        .examples = {{"tmm-gen --shape 1000x1000x1000 --explain", "Says what the kernel of an untuned problem takes."},
                     {"tmm-gen --shape '1000x1000x1000 ops=nt lda=1024' --source",
                      "Prints the whole source of a kernel with B transposed."}},
    };
}

}  // namespace

const ToolDescription& gen_tool() {
    static const auto* tool = new ToolDescription(description());
    return *tool;
}

}  // namespace tmm
