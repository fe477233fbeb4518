#include "tools/tmm_gen/explanation.h"

#include <fmt/core.h>

#include <memory>
#include <variant>

#include "base/error.h"
#include "base/text/text_width.h"
#include "generator/choice/cost_model.h"
#include "generator/choice/validity.h"
#include "generator/compile/compiler.h"
#include "generator/families/family.h"
#include "generator/machine/occupancy.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

std::string unknown_registers(const std::string& reason, const Occupancy& occupancy) {
    return fmt::format("  registers per thread    unknown: {}\n  blocks per SM           at most {}, bound by {}\n", reason,
                       occupancy.blocks, occupancy.limit);
}

std::string numbers(const CompiledKernel& kernel, const KernelStep& step, const DeviceInfo& device) {
    const Occupancy occupancy = blocks_per_sm(device, step.threads, kernel.registers, step.shared_bytes);
    if (kernel.registers < 0)
        return unknown_registers("the driver compiles this kernel, since NVRTC has no machine code for the GPU", occupancy);
    std::string text = fmt::format("  registers per thread    {}\n  spill bytes per thread  {}\n", kernel.registers, kernel.spill_bytes);
    text += fmt::format("  blocks per SM           {}, bound by {}\n", occupancy.blocks, occupancy.limit);
    if (step.grid > 0 && occupancy.blocks > 0) {
        const double waves = static_cast<double>(step.grid) / (static_cast<double>(occupancy.blocks) * device.sm_count);
        text += fmt::format("  waves of blocks         {:.2f}\n", waves);
    }
    return text;
}

// Registers are the compiler's to say; without one the rest is still told.
std::string compiled_numbers(const KernelStep& step, const DeviceInfo& device) {
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = make_nvrtc_compiler(device.compute_capability());
    } catch (const Error& error) {
        const Occupancy occupancy = blocks_per_sm(device, step.threads, -1, step.shared_bytes);
        return unknown_registers(error.what(), occupancy);
    }
    const CompileResult result = compiler->compile(step.source);
    if (const auto* kernel = std::get_if<CompiledKernel>(&result)) return numbers(*kernel, step, device);
    return fmt::format("  does not compile        {}\n", std::get<CompileFailure>(result).log);
}

// Steps around a product, such as planes and reduce, have no phases.
std::string loads_of(const KernelStep& step) {
    const auto* config = std::get_if<KernelConfig>(&step.kernel);
    if (!config) return {};
    const PhaseLoads loads = family_of(*config).model.phase_loads(*config);
    const std::string by_whom = loads.by_copy_engine
                                    ? fmt::format("{:g} per block, by TMA", loads.elements)
                                    : fmt::format("{:g} per thread, {:g} per block", loads.elements, loads.elements * step.threads);
    return fmt::format("  loads per phase         {}\n  FLOP per load           {:.4g}\n", by_whom, loads.flop_per_load);
}

}  // namespace

std::string explanation(const KernelRequest& request, std::size_t columns) {
    const DeviceInfo& device = request.device;
    const GemmProblem& problem = request.shape.problem;
    std::string text;
    const auto line = [&](const char* name, const std::string& value) {
        constexpr std::size_t values = 11;
        text += hanging(fmt::format("{:<{}}{}", name, values, value), columns, values) + '\n';
    };
    line("problem", to_text(problem));
    line("device", fmt::format("assumed: {}, compute capability {}.{}, {} SMs", device.name, device.compute_capability_major,
                               device.compute_capability_minor, device.sm_count));
    line("per SM", fmt::format("{} KiB of shared memory, {} threads", device.shared_bytes_per_sm >> 10, device.max_threads_per_sm));
    line("config", to_text(request.config));
    if (!request.chosen) line("chosen by", "tmm, as for an untuned problem");
    if (const auto reason = why_invalid(problem, request.config, device)) {
        line("invalid", *reason);
        return text;
    }

    const KernelSteps steps = steps_of(request);
    line("predicted", to_text(CostModel(problem, device).predict(request.config)));
    line("profile", origin_text(device.profile));
    line("steps", fmt::format("{}", steps.steps.size()));
    line("workspace", fmt::format("{} bytes", steps.workspace_bytes));
    for (std::size_t i = 0; i < steps.steps.size(); ++i) {
        const KernelStep& step = steps.steps[i];
        text += fmt::format("\nstep {}     {}\n", i + 1, step.source.name);
        text += fmt::format("  threads per block       {}\n", step.threads);
        text += fmt::format("  shared bytes per block  {}\n", step.shared_bytes);
        text += loads_of(step);
        text += compiled_numbers(step, device);
        text += fmt::format("  grid                    {} blocks\n", step.grid);
        if (step.packers > 0) text += fmt::format("  of these pack           {}, while the others multiply\n", step.packers);
        if (step.for_strips > 0) text += fmt::format("  of these add up         {}, the strips beside the tiles\n", step.for_strips);
        text += fmt::format("  source hash             {}\n", source_hash(step.source));
    }
    return text;
}

}  // namespace tmm
