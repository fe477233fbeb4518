#include "generator/steps/step.h"

#include <fmt/core.h>

#include <type_traits>

#include "generator/steps/launch_step.h"

namespace tmm {

std::optional<StepFacts> facts_of_step(const PlanKernel& kernel, const KernelSignature& signature) {
    return std::visit(
        [&]<class Kernel>(const Kernel& one) -> std::optional<StepFacts> {
            if constexpr (std::is_same_v<Kernel, KernelConfig>)
                return std::nullopt;
            else
                return facts_of(one, signature);
        },
        kernel);
}

StepField number_field(const char* name, int value) {
    return {.name = name, .value = std::to_string(value), .word = fmt::format("{}{}", name, value)};
}

StepField flag_field(const char* name, bool value) {
    return {.name = name, .value = value ? "true" : "false", .word = value ? name : ""};
}

LaunchStep& StepList::add(const KernelSignature& signature, const PlanKernel& kernel, const Extent& part, std::int64_t grid, Bind bind) {
    return add(signature, kernel, facts_of_step(kernel, signature)->needs, part, grid, bind);
}

LaunchStep& StepList::add(const KernelSignature& signature, const PlanKernel& kernel, const LaunchNeeds& needs, const Extent& part,
                          std::int64_t grid, Bind bind) {
    steps.push_back(LaunchStep{.signature = signature,
                               .kernel = kernel,
                               .extent = part,
                               .grid = grid,
                               .threads = needs.threads,
                               .cluster = needs.cluster,
                               .shared_bytes = needs.shared_bytes,
                               .begins_early = schedule.config.overlap != 0 || needs.leaves_room,
                               .bind = bind});
    return steps.back();
}

}  // namespace tmm
