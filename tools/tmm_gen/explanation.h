// What tmm-gen --explain prints: the numbers of each kernel of a call.
#pragma once

#include <cstddef>
#include <string>

#include "generator/plan/kernel_steps.h"

namespace tmm {

// The text ends with the reason where the config can't serve the problem. Registers are given where libnvrtc is there. Lines are at most so
// many columns wide (0: as wide as need be), but for kernels' names and what compilers say.
std::string explanation(const KernelRequest& request, std::size_t columns);

}  // namespace tmm
