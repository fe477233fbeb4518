#include "generator/steps/step.h"

#include <fmt/core.h>

#include <type_traits>

#include "generator/families/family.h"

namespace tmm {

LaunchNeeds needs_of(const PlanKernel& kernel, const KernelSignature& signature) {
    if (const auto* config = std::get_if<KernelConfig>(&kernel))
        return {.threads = threads_of(*config),
                .shared_bytes = shared_bytes_of(*config, signature),
                .cluster = cluster_size_of(*config),
                .leaves_room = family_of(*config).rules.leaves_room};
    return facts_of_step(kernel, signature)->needs;
}

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

}  // namespace tmm
