// Which kernel a step of a plan has.
#pragma once

#include <string>
#include <variant>

#include "generator/families/family.h"
#include "generator/plan/launch_plan.h"

namespace tmm {

inline bool is_of_family(const LaunchStep& step, int family) {
    const KernelConfig* const config = config_of(step);
    return config && config->family == family;
}

// The step's family, or the name of what it does around a product.
inline std::string name_of(const LaunchStep& step) {
    if (const KernelConfig* const config = config_of(step)) return kFamilyNames[config->family];
    return static_cast<const char*>(facts_of_step(step.kernel, step.signature)->name);
}

}  // namespace tmm
