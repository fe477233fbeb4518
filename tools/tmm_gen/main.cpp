// tmm-gen: prints the kernel that a config gives for a problem, as stub, whole source or PTX, or explains it in numbers.
#include <fmt/core.h>

#include <string>

#include "base/command_line/tool_main.h"
#include "base/text/terminal.h"
#include "db/machine/prediction.h"
#include "db/store/records.h"
#include "db/store/tuning_database.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/validity.h"
#include "generator/compile/compiler.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/kernel_steps.h"
#include "generator/text/shape_overrides.h"
#include "generator/text/text.h"
#include "tools/tmm_gen/explanation.h"
#include "tools/tmm_gen/gen_tool.h"

namespace {

using namespace tmm;

// What is printed of each kernel: "stub", "source" or "ptx"; or "explain".
std::string output_of(const CommandLine& line) {
    std::string chosen;
    for (const char* name : {"stub", "source", "ptx", "explain"}) {
        if (!line.has(name)) continue;
        if (!chosen.empty())
            throw Error(ExitStatus::usage, fmt::format("--{} and --{} exclude each other", chosen, name), {}, "ask for one at a time");
        chosen = name;
    }
    return chosen.empty() ? "stub" : chosen;
}

// The GPU that a kernel is for: the one of that compute capability that the database last measured, else one of many.
DeviceInfo device_of(const CommandLine& line) {
    DeviceInfo device = assumed_device(line.text("gpu-arch"));
    if (!line.has("db")) return device;
    TuningDatabase database(line.text("db"), TuningDatabase::Mode::read_only);
    for (const RatesRecord& record : database.rates_records()) {
        const DeviceInfo& measured = record.environment.device;
        if (measured.compute_capability() != device.compute_capability()) continue;
        if (const auto known = modelled_device(measured, database)) device = *known;
    }
    return device;
}

KernelRequest request_of(const CommandLine& line) {
    KernelRequest request{.shape = parse_shape(line.text("shape"), parse_overrides(line.values("set"))),
                          .config = {},
                          .chosen = line.has("config"),
                          .device = device_of(line)};
    request.config = request.chosen ? parse_config(line.text("config")) : default_config(request.shape.problem, request.device);
    return request;
}

std::string kernel_text(const KernelStep& step, const std::string& output, const DeviceInfo& device) {
    if (output == "source") return flatten(step.source.text, active_templates());
    return output == "ptx" ? compile_to_ptx(step.source, device.compute_capability()) : step.source.text;
}

void check_serves(const KernelRequest& request) {
    const auto reason = why_invalid(request.shape.problem, request.config, request.device);
    if (!reason) return;
    const GemmProblem& problem = request.shape.problem;
    if (!request.chosen)
        throw Error(ExitStatus::usage, why_none_serves(problem, *reason), to_text(problem), "no kernel serves this problem yet");
    throw Error(ExitStatus::usage, *reason, fmt::format("{} for {}", to_text(request.config), to_text(request.shape.problem)),
                "--explain tells more; leave --config away for a config that is valid");
}

ExitStatus run(const CommandLine& line) {
    const std::string output = output_of(line);
    const KernelRequest request = request_of(line);
    if (output == "explain") {
        fmt::print("{}", explanation(request, screen_of(stdout).columns));
        return why_invalid(request.shape.problem, request.config, request.device) ? ExitStatus::usage : ExitStatus::done;
    }
    check_serves(request);
    const KernelSteps steps = steps_of(request);
    for (std::size_t i = 0; i < steps.steps.size(); ++i) {
        if (steps.steps.size() > 1)
            fmt::print("{}// Step {} of {}: {}\n", i ? "\n" : "", i + 1, steps.steps.size(), steps.steps[i].source.name);
        fmt::print("{}", kernel_text(steps.steps[i], output, request.device));
    }
    return ExitStatus::done;
}

}  // namespace

int main(int argc, char** argv) {
    return tmm::tool_main(tmm::gen_tool(), argc, argv, run);
}
