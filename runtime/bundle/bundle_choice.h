// Which of a bundle's entries serves a problem.
#pragma once

#include <cstdint>
#include <optional>

#include "generator/machine/device_info.h"
#include "runtime/bundle/bundle.h"
#include "runtime/select/selection.h"

namespace tmm {

struct BundledChoice {
    // The problem as the bundle's kernels take it: it may promise less alignment than the one that was asked, and read C where that does
    // not.
    GemmProblem problem;
    Selection selection;
};

// The entry of the very problem, or of the same with less aligned pointers; nothing where there is none whose kernels the bundle has, or
// where it is not valid for the problem, because the bundle is foreign, or needs more workspace. A problem with an expression has none.
std::optional<BundledChoice> held_choice(const Bundle& bundle, const GemmProblem& problem, std::int64_t most_workspace,
                                         const DeviceInfo& device);

// For a problem that nothing can be compiled for: what serves the nearest of the entries and is valid here, whatever its distance, else the
// fallback; nothing where the bundle has the kernels of neither.
std::optional<BundledChoice> nearest_choice(const Bundle& bundle, const GemmProblem& problem, std::int64_t most_workspace,
                                            const DeviceInfo& device);

}  // namespace tmm
