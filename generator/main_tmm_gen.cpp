// tmm-gen: prints the kernel that a config gives for a problem, as stub, whole source or PTX, or explains it in numbers.
#include <fmt/core.h>

#include <boost/program_options.hpp>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "generator/assumed_device.h"
#include "generator/compiler.h"
#include "generator/kernel_source.h"
#include "generator/launch_plan.h"
#include "generator/occupancy.h"
#include "generator/search_space.h"
#include "generator/shapes_file.h"
#include "generator/text.h"
#include "generator/tool_main.h"
#include "tmm/rules.h"

namespace po = boost::program_options;

namespace tmm {
namespace {

constexpr const char* kUsage =
    R"(Usage: tmm-gen --shape 1000x1000x1000 [--config family=tiled,block_m=16,...] [--stub|--source|--ptx|--explain]

Prints the kernels that a config gives for a problem. It needs no GPU and no driver; --ptx, and the registers in --explain,
need libnvrtc. Without --config it takes the config that an untuned problem gets.

)";

constexpr const char* kExamples = R"(
A shape is "M N K" or MxNxK, then key=value pairs as in a shapes file: --shape "1000x1000x1000 ops=nt lda=1024".
Exit status: 0 done, 1 usage (also where the config can't serve the problem), 4 libnvrtc missing.
)";

enum class Output { stub, source, ptx, explain };

struct Request {
    Shape shape;
    KernelConfig config;
    // The user named the config.
    bool chosen = false;
    DeviceInfo device;
    Output output = Output::stub;
};

// One kernel of a call. A kernel that is shown by itself, outside of any plan, has no grid.
struct Step {
    KernelSource source;
    KernelSignature signature;
    KernelConfig config;
    int threads = 0;
    std::int64_t shared_bytes = 0;
    std::int64_t grid = 0;
    // Of the grid, such as pack for the others, and such as add up strips.
    int packers = 0;
    int for_strips = 0;
};

struct Steps {
    std::vector<Step> steps;
    std::int64_t workspace_bytes = 0;
};

// Families that only prepare or finish others' products serve no problem; their kernels are shown by themselves.
bool is_step_of_others(const KernelConfig& config) {
    return config.family == family::reduce || config.family == family::pack || config.family == family::pad ||
           config.family == family::fixup;
}

// Why the config can't serve the problem.
std::optional<std::string> fault_of(const Request& request) {
    if (!is_step_of_others(request.config)) return why_invalid(request.shape.problem, request.config, request.device);
    const char* reason =
        first_violation(request.config, kernel_signature(main_signature(request.shape.problem, request.config), request.config));
    return reason ? std::optional<std::string>(reason) : std::nullopt;
}

Steps steps_of(const Request& request) {
    Steps result;
    const auto add = [&](const KernelSignature& signature, const KernelConfig& config, int threads, std::int64_t shared, std::int64_t grid,
                         int packers, int for_strips) {
        const KernelSignature own = kernel_signature(signature, config);
        result.steps.push_back({make_kernel_source(own, config), own, config, threads, shared, grid, packers, for_strips});
    };
    if (is_step_of_others(request.config)) {
        const KernelSignature signature = kernel_signature(main_signature(request.shape.problem, request.config), request.config);
        add(signature, request.config, threads(request.config), shared_bytes(request.config, signature), 0, 0, 0);
        return result;
    }
    const LaunchPlan plan = make_launch_plan(request.shape.problem, request.config, request.device);
    for (const LaunchStep& step : plan.steps)
        add(step.signature, step.config, step.threads, step.shared_bytes, step.grid, blocks_that_pack(step), step.blocks_for_strips);
    result.workspace_bytes = plan.workspace_bytes;
    return result;
}

std::string numbers(const CompiledKernel& kernel, const Step& step, const DeviceInfo& device) {
    const Occupancy occupancy = blocks_per_sm(device, step.threads, kernel.registers, step.shared_bytes);
    std::string text = fmt::format("  registers a thread    {}\n  spill bytes a thread  {}\n", kernel.registers, kernel.spill_bytes);
    text += fmt::format("  blocks an SM          {}, bound by {}\n", occupancy.blocks, occupancy.limit);
    if (step.grid > 0 && occupancy.blocks > 0) {
        const double waves = static_cast<double>(step.grid) / (static_cast<double>(occupancy.blocks) * device.sm_count);
        text += fmt::format("  waves over the GPU    {:.2f}\n", waves);
    }
    return text;
}

// Registers are the compiler's to say; without one the rest is still told.
std::string compiled_numbers(const Step& step, const DeviceInfo& device) {
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = make_nvrtc_compiler(device.compute_capability());
    } catch (const Error& error) {
        const Occupancy occupancy = blocks_per_sm(device, step.threads, -1, step.shared_bytes);
        return fmt::format("  registers a thread    unknown: {}\n  blocks an SM          at most {}, bound by {}\n", error.what(),
                           occupancy.blocks, occupancy.limit);
    }
    const CompileResult result = compiler->compile(step.source);
    if (const auto* kernel = std::get_if<CompiledKernel>(&result)) return numbers(*kernel, step, device);
    return fmt::format("  does not compile      {}\n", std::get<CompileFailure>(result).log);
}

std::string explanation(const Request& request) {
    const DeviceInfo& device = request.device;
    const GemmProblem& problem = request.shape.problem;
    std::string text = fmt::format("problem    {}\n", to_text(problem));
    text += fmt::format("device     assumed: {}, compute capability {}.{}, {} SMs, {} KiB of shared memory and {} threads an SM\n",
                        device.name, device.compute_capability_major, device.compute_capability_minor, device.sm_count,
                        device.shared_bytes_per_sm >> 10, device.max_threads_per_sm);
    text += fmt::format("config     {}{}\n", to_text(request.config), request.chosen ? "" : "  (what an untuned problem gets)");
    if (const auto reason = fault_of(request)) return text + fmt::format("invalid    {}\n", *reason);

    const Steps steps = steps_of(request);
    text += fmt::format("steps      {}\nworkspace  {} bytes\n", steps.steps.size(), steps.workspace_bytes);
    for (std::size_t i = 0; i < steps.steps.size(); ++i) {
        const Step& step = steps.steps[i];
        text += fmt::format("\nstep {}     {}\n", i + 1, step.source.name);
        text += fmt::format("  threads a block       {}\n", step.threads);
        text += fmt::format("  shared bytes a block  {}\n", step.shared_bytes);
        if (!is_step_of_others(step.config)) {
            if (is_brought_by_tma(step.config))
                text += fmt::format("  loads a phase         {:g} a block, by TMA\n", loads_by_tma(step.config));
            else
                text += fmt::format("  loads a phase         {:g} a thread, {:g} a block\n", loads_per_phase(step.config),
                                    loads_per_phase(step.config) * step.threads);
            text += fmt::format("  FLOP per load         {:g}\n", flop_per_load(step.config));
        }
        text += compiled_numbers(step, device);
        if (step.grid > 0) text += fmt::format("  grid                  {} blocks\n", step.grid);
        if (step.packers > 0) text += fmt::format("  of these pack         {}, while the others multiply\n", step.packers);
        if (step.for_strips > 0) text += fmt::format("  of these add up       {}, the strips beside the tiles\n", step.for_strips);
        text += fmt::format("  source hash           {}\n", source_hash(step.source));
    }
    return text;
}

std::string kernel_text(const Step& step, const Request& request) {
    switch (request.output) {
        case Output::source: return flatten(step.source.text, active_templates());
        case Output::ptx: return compile_to_ptx(step.source, request.device.compute_capability());
        default: return step.source.text;
    }
}

ExitStatus print(const Request& request) {
    if (request.output == Output::explain) {
        std::cout << explanation(request);
        return fault_of(request) ? ExitStatus::usage : ExitStatus::done;
    }
    if (const auto reason = fault_of(request)) {
        if (!request.chosen) throw Error(ExitStatus::usage, *reason, to_text(request.shape.problem), "no kernel serves this problem yet");
        throw Error(ExitStatus::usage, *reason, fmt::format("{} for {}", to_text(request.config), to_text(request.shape.problem)),
                    "--explain tells more; leave --config away for a config that is valid");
    }
    const Steps steps = steps_of(request);
    for (std::size_t i = 0; i < steps.steps.size(); ++i) {
        if (steps.steps.size() > 1)
            std::cout << fmt::format("{}// Step {} of {}: {}\n", i ? "\n" : "", i + 1, steps.steps.size(), steps.steps[i].source.name);
        std::cout << kernel_text(steps.steps[i], request);
    }
    return ExitStatus::done;
}

ShapeOverrides overrides_from(const std::vector<std::string>& settings) {
    ShapeOverrides overrides;
    for (const std::string& setting : settings) {
        const auto equals = setting.find('=');
        if (equals == std::string::npos)
            throw Error(ExitStatus::usage, fmt::format("'{}' is not key=value", setting), "--set", "write it like --set dtype=f32");
        overrides.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
    }
    return overrides;
}

std::optional<Request> request_from(int argc, char** argv) {
    po::options_description options("Options");
    auto add = options.add_options();
    add("shape", po::value<std::string>(), "the problem, like 1000x1000x1000");
    add("config", po::value<std::string>(), "the kernel's config, like family=tiled,block_m=16,block_n=16,block_k=16");
    add("set", po::value<std::vector<std::string>>()->composing(), "key=value of the problem, like in a shapes file; wins over --shape");
    add("gpu-arch", po::value<std::string>()->default_value("90"), "compute capability to generate for");
    add("stub", "print the short text that instantiates each kernel (the default)");
    add("source", "print each kernel's whole source, templates and all");
    add("ptx", "print each kernel's PTX");
    add("explain", "print threads, shared memory, loads, registers, blocks an SM, grid, or why the config is invalid");
    add("help,h", "print this");
    add("version", "print the version");

    po::variables_map values;
    try {
        namespace style = po::command_line_style;
        po::store(
            po::command_line_parser(argc, argv).options(options).positional({}).style(style::unix_style & ~style::allow_guessing).run(),
            values);
        po::notify(values);
    } catch (const po::error& error) {
        throw Error(ExitStatus::usage, error.what(), {}, "tmm-gen --help lists the options");
    }
    if (values.count("help")) {
        std::cout << kUsage << options << "\nFields of a config:\n";
        for (const Parameter& parameter : kParameters) std::cout << fmt::format("  {:<14}{}\n", parameter.name, parameter.help);
        std::cout << kExamples;
        return std::nullopt;
    }
    if (values.count("version")) {
        std::cout << "tmm-gen " TMM_VERSION_TEXT "\n";
        return std::nullopt;
    }

    Request request;
    if (!values.count("shape")) throw Error(ExitStatus::usage, "--shape is missing", {}, "write it like --shape 1000x1000x1000");
    std::vector<std::pair<const char*, Output>> outputs{
        {"stub", Output::stub}, {"source", Output::source}, {"ptx", Output::ptx}, {"explain", Output::explain}};
    std::erase_if(outputs, [&](const auto& output) { return !values.count(output.first); });
    if (outputs.size() > 1)
        throw Error(ExitStatus::usage, fmt::format("--{} and --{} exclude each other", outputs[0].first, outputs[1].first), {},
                    "ask for one at a time");
    if (!outputs.empty()) request.output = outputs.front().second;

    const auto settings = values.count("set") ? values["set"].as<std::vector<std::string>>() : std::vector<std::string>{};
    request.shape = parse_shape(values["shape"].as<std::string>(), overrides_from(settings));
    request.device = assumed_device(values["gpu-arch"].as<std::string>());
    request.chosen = values.count("config") > 0;
    request.config =
        request.chosen ? parse_config(values["config"].as<std::string>()) : default_config(request.shape.problem, request.device);
    return request;
}

}  // namespace
}  // namespace tmm

int main(int argc, char** argv) {
    return tmm::tool_main("tmm-gen", [&] {
        const auto request = tmm::request_from(argc, argv);
        return request ? tmm::print(*request) : tmm::ExitStatus::done;
    });
}
